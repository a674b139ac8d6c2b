#include "src/ir/ttg/EncodingFields.h"

namespace jitk::ir::ttg {
using namespace mlir;

/// The largest step of a basis: a dimension's size, twice as large, is an int32 of layouts.
static constexpr uint32_t kMaxStep = 1u << 29;

FailureOr<EncodingFields> EncodingFields::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  DictionaryAttr fields;
  if (parser.parseAttribute(fields)) {
    return failure();
  }
  return EncodingFields(parser, loc, fields);
}

bool EncodingFields::has(StringRef key) {
  asked_.push_back(key);
  return fields_.contains(key);
}

template <typename T> ParseResult EncodingFields::getAs(StringRef key, StringRef wanted, T &value) {
  if (!has(key)) {
    return error() << "missing key: " << key;
  }
  auto found = dyn_cast<T>(fields_.get(key));
  if (!found) {
    return error() << key << " must be " << wanted << ": got " << fields_.get(key);
  }
  value = found;
  return success();
}

static bool isUnsigned(Attribute attribute) {
  auto integer = dyn_cast<IntegerAttr>(attribute);
  return integer && integer.getValue().isIntN(32);
}

ParseResult EncodingFields::get(StringRef key, unsigned &value) {
  IntegerAttr integer;
  if (getAs(key, "an integer", integer)) {
    return failure();
  }
  if (!isUnsigned(integer)) {
    return error() << key << " must be a non-negative integer: got " << integer;
  }
  value = integer.getValue().getZExtValue();
  return success();
}

ParseResult EncodingFields::get(StringRef key, bool &value) {
  BoolAttr boolean;
  if (getAs(key, "a bool", boolean)) {
    return failure();
  }
  value = boolean.getValue();
  return success();
}

ParseResult EncodingFields::get(StringRef key, SmallVector<unsigned> &values) {
  ArrayAttr array;
  if (getAs(key, "an array of integers", array)) {
    return failure();
  }
  for (Attribute element : array) {
    if (!isUnsigned(element)) {
      return error() << key << " must be an array of non-negative integers: got " << array;
    }
    values.push_back(cast<IntegerAttr>(element).getValue().getZExtValue());
  }
  return success();
}

ParseResult EncodingFields::get(StringRef key, Attribute &value) { return getAs(key, "an attribute", value); }

ParseResult EncodingFields::getBases(StringRef key, unsigned &rank, SmallVector<int32_t> &flat) {
  ArrayAttr bases;
  if (getAs(key, "an array of bases", bases)) {
    return failure();
  }
  for (Attribute attribute : bases) {
    auto basis = dyn_cast<ArrayAttr>(attribute);
    if (!basis || !llvm::all_of(basis, isUnsigned)) {
      return error() << key << " must be an array of bases: got " << bases;
    }
    rank = rank ? rank : basis.size();
    if (basis.size() != rank) {
      return error() << "a basis of " << key << " must have one number for each of " << rank << " dimensions: got "
                     << basis.size();
    }
    for (auto number : basis.getAsRange<IntegerAttr>()) {
      if (number.getValue().ugt(kMaxStep)) {
        return error() << "a basis of " << key << " must step by at most " << kMaxStep << ": got " << number;
      }
      flat.push_back(number.getValue().getZExtValue());
    }
  }
  return success();
}

ParseResult EncodingFields::getCGALayout(unsigned rank, CGAEncodingAttr &layout) {
  SmallVector<int32_t> flat;
  if (has("CGALayout") && getBases("CGALayout", rank, flat)) {
    return failure();
  }
  layout = CGAEncodingAttr::getChecked([&] { return error(); }, fields_.getContext(), rank, ArrayRef<int32_t>(flat));
  return success(layout != nullptr);
}

ParseResult EncodingFields::rejectOthers() {
  for (NamedAttribute field : fields_) {
    if (!llvm::is_contained(asked_, field.getName().getValue())) {
      return error() << "unexpected key: " << field.getName().getValue();
    }
  }
  return success();
}

void printNumbers(AsmPrinter &printer, ArrayRef<unsigned> values) {
  printer << '[';
  llvm::interleaveComma(values, printer);
  printer << ']';
}

void printBases(AsmPrinter &printer, ArrayRef<int32_t> flat, unsigned rank) {
  printer << '[';
  llvm::interleaveComma(unflattenBases(flat, rank), printer, [&](ArrayRef<int32_t> basis) {
    printer << '[';
    llvm::interleaveComma(basis, printer);
    printer << ']';
  });
  printer << ']';
}

void printCGALayout(AsmPrinter &printer, CGAEncodingAttr layout) {
  if (!layout.isTrivial()) {
    printer << ", CGALayout = ";
    printBases(printer, layout.getFlatBases(), layout.getRank());
  }
}

LogicalResult verifyRank(function_ref<InFlightDiagnostic()> emitError, unsigned rank) {
  if (rank == 0 || rank > tt::kMaxTensorRank) {
    return emitError() << "an encoding must have 1 to " << tt::kMaxTensorRank << " dimensions: got " << rank;
  }
  return success();
}

SmallVector<ArrayRef<int32_t>> unflattenBases(ArrayRef<int32_t> flat, unsigned rank) {
  SmallVector<ArrayRef<int32_t>> bases;
  for (; !flat.empty(); flat = flat.drop_front(rank)) {
    bases.push_back(flat.take_front(rank));
  }
  return bases;
}

} // namespace jitk::ir::ttg
