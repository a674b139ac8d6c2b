#include "src/runtime/TensorContract.h"

#include "src/ops/TensorShape.h"

#include <algorithm>

namespace jitk {

TensorContract::TensorContract(const Description &description, const std::vector<std::string> &tensors,
                               const std::vector<std::string> &dimensions)
    : dimensions_(dimensions) {
  Result<std::vector<TensorForm>> forms = tensorForms(description);
  if (!forms.ok()) {
    return;
  }
  auto indexOf = [&](const std::string &name) {
    auto found = std::find(dimensions.begin(), dimensions.end(), name);
    return found == dimensions.end() ? -1 : static_cast<int>(found - dimensions.begin());
  };
  for (const std::string &name : tensors) {
    auto form = std::find_if(forms->begin(), forms->end(), [&](const TensorForm &f) { return f.name == name; });
    if (form == forms->end() || form->extents.size() > kMaximalRank) {
      return;
    }
    Form bound{name, form->dtype, {}, form->transposed, form->rowAxes, form->rowStride, form->pageStride};
    for (const jitk::Extent &extent : form->extents) {
      int index = extent.dimension.empty() ? -1 : indexOf(extent.dimension);
      if (!extent.dimension.empty() && index < 0) {
        return;
      }
      bound.extents.push_back({index, extent.divisor, extent.addend});
    }
    forms_.push_back(std::move(bound));
  }
  known_ = true;
}

static bool isContiguous(const TensorView &view) {
  int64_t stride = 1;
  for (size_t axis = view.sizes.size(); view.strides && axis > 0; --axis) {
    if (view.sizes[axis - 1] != 1 && view.strides[axis - 1] != stride) {
      return false;
    }
    stride *= view.sizes[axis - 1];
  }
  return true;
}

/// Of a tensor that lies transposed in memory its owner may have either view; strides tell which.
static bool isReversed(const TensorView &view) {
  return view.sizes.size() >= 2 && !isContiguous(view) && view.strides[view.sizes.size() - 1] != 1;
}

/// The axis of the view that is axis `axis` in memory: the last two change places.
static size_t axisOf(size_t axis, size_t rank, bool reversed) {
  return reversed && axis + 2 >= rank ? 2 * rank - 3 - axis : axis;
}

Status TensorContract::readDimensions(std::span<const TensorView> tensors, std::span<int64_t> dimensions) const {
  for (size_t index = 0; index < dimensions.size(); ++index) {
    bool told = false;
    for (size_t i = 0; i < forms_.size() && !told; ++i) {
      const Form &form = forms_[i];
      bool reversed = form.transposed && isReversed(tensors[i]);
      for (size_t axis = 0; axis < form.extents.size() && !told; ++axis) {
        const Extent &extent = form.extents[axis];
        size_t at = axisOf(axis, form.extents.size(), reversed);
        told = extent.dimension == static_cast<int>(index) && extent.divisor == 1 && at < tensors[i].sizes.size();
        dimensions[index] = told ? tensors[i].sizes[at] - extent.addend : 0;
      }
    }
    if (!told) {
      return invalidArgument("dimension " + dimensions_[index] + " cannot be read off a shape and must be given");
    }
  }
  return okStatus();
}

[[gnu::cold, gnu::noinline]] static Status wrong(const std::string &what, const std::string &name, std::string wanted,
                                                 std::string found) {
  return invalidArgument(what + " of tensor " + name + " must be " + std::move(wanted) + ": got " + std::move(found));
}

Status TensorContract::checkTensor(const Form &form, const TensorView &view, std::span<const int64_t> dimensions) {
  // Bytes of a type that many frameworks lack may come as bytes.
  if (view.dtype != form.dtype && !(form.dtype == "e4m3" && view.dtype == "uint8")) {
    return wrong("type", form.name, form.dtype, std::string(view.dtype));
  }
  size_t rank = form.extents.size();
  if (view.sizes.size() != rank) {
    return wrong("rank", form.name, std::to_string(rank), std::to_string(view.sizes.size()));
  }
  bool reversed = form.transposed && isReversed(view);
  bool empty = std::find(view.sizes.begin(), view.sizes.end(), 0) != view.sizes.end();
  int64_t stride = 1, packed = 1; // what the stride of an axis must be, and is where none are given
  for (size_t i = rank; i > 0; --i) {
    size_t axis = axisOf(i - 1, rank, reversed);
    int64_t size = form.extents[i - 1].at(dimensions);
    if (form.rowStride != 0 && rank - i == form.rowAxes) {
      stride = form.rowStride;
    }
    if (form.pageStride != 0 && rank - i == form.rowAxes + 1) {
      stride = form.pageStride;
    }
    if (view.sizes[axis] != size) {
      return wrong("size " + std::to_string(axis), form.name, std::to_string(size), std::to_string(view.sizes[axis]));
    }
    int64_t found = view.strides ? view.strides[axis] : packed;
    if (size != 1 && !empty && found != stride) {
      return wrong("stride " + std::to_string(axis), form.name, std::to_string(stride), std::to_string(found));
    }
    stride *= size;
    packed *= size;
  }
  return okStatus();
}

Status TensorContract::check(std::span<const TensorView> tensors, std::span<const int64_t> dimensions) const {
  for (size_t i = 0; i < forms_.size(); ++i) {
    JITK_TRY(checkTensor(forms_[i], tensors[i], dimensions));
  }
  return okStatus();
}

} // namespace jitk
