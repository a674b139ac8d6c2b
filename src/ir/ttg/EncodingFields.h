// Reading and writing `{key = value, ...}`, the body of an encoding's text.

#pragma once

#include "src/ir/ttg/Ttg.h"

namespace jitk::ir::ttg {

/// The fields of one encoding while it is parsed. Each `get` reports a missing or ill-typed field at the attribute and
/// leaves the output as it was; `rejectOthers` reports the fields that no `get` and no `has` asked for.
class EncodingFields {
public:
  /// Parses `{...}` at the parser's position.
  static llvm::FailureOr<EncodingFields> parse(mlir::AsmParser &parser);

  bool has(llvm::StringRef key);
  mlir::ParseResult get(llvm::StringRef key, unsigned &value);
  mlir::ParseResult get(llvm::StringRef key, bool &value);
  mlir::ParseResult get(llvm::StringRef key, llvm::SmallVector<unsigned> &values);
  mlir::ParseResult get(llvm::StringRef key, mlir::Attribute &value);
  /// Reads `[[..], ..]`. `rank` is the length of a basis; 0 means that the first one decides.
  mlir::ParseResult getBases(llvm::StringRef key, unsigned &rank, llvm::SmallVector<int32_t> &flat);
  /// Reads `CGALayout`; without it there is one CTA.
  mlir::ParseResult getCGALayout(unsigned rank, CGAEncodingAttr &layout);
  mlir::ParseResult rejectOthers();

  mlir::InFlightDiagnostic error() { return parser_->emitError(loc_); }

private:
  EncodingFields(mlir::AsmParser &parser, llvm::SMLoc loc, mlir::DictionaryAttr fields)
      : parser_(&parser), loc_(loc), fields_(fields) {}

  template <typename T> mlir::ParseResult getAs(llvm::StringRef key, llvm::StringRef wanted, T &value);

  mlir::AsmParser *parser_;
  llvm::SMLoc loc_;
  mlir::DictionaryAttr fields_;
  llvm::SmallVector<llvm::StringRef> asked_;
};

/// Prints `[a, b, c]`.
void printNumbers(mlir::AsmPrinter &printer, llvm::ArrayRef<unsigned> values);

/// Prints `[[a, b], [c, d]]`; `rank` numbers a basis.
void printBases(mlir::AsmPrinter &printer, llvm::ArrayRef<int32_t> flat, unsigned rank);

/// Prints `, CGALayout = [[..]]`, or nothing for one CTA.
void printCGALayout(mlir::AsmPrinter &printer, CGAEncodingAttr layout);

/// Reports a rank that no tensor has.
llvm::LogicalResult verifyRank(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, unsigned rank);

/// Splits flat bases into arrays of `rank` numbers.
llvm::SmallVector<llvm::ArrayRef<int32_t>> unflattenBases(llvm::ArrayRef<int32_t> flat, unsigned rank);

} // namespace jitk::ir::ttg
