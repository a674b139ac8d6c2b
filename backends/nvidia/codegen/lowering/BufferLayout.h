// Where the elements of a buffer lie in shared memory, in the form that lowerings read.

#pragma once

#include "src/ir/layout/LocalAccess.h"
#include "src/ir/ttg/Ttg.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace jitk::nvidia {

/// The place of each element of a view, relative to the view's first element. Element `x` lies at
///
///     base + bytes * padded(offset(x) XOR view offset)
///
/// where base and view offset are the registers of the memdesc, and `offset` is linear over the bits of the
/// coordinates.
class BufferLayout {
public:
  explicit BufferLayout(ir::ttg::MemDescType type);

  unsigned elementBytes() const { return elementBytes_; }
  /// In elements. Linear: combines by XOR.
  int32_t offset(llvm::ArrayRef<int32_t> coordinate) const;

  /// The bits that the offset of a view of this type may set.
  int32_t viewBits() const { return viewBits_; }

  /// Elements of padding after every so many elements; empty for all layouts but padded_shared.
  struct Padding {
    unsigned interval;
    unsigned elements;
  };
  llvm::ArrayRef<Padding> paddings() const { return paddings_; }

private:
  unsigned elementBytes_;
  llvm::SmallVector<llvm::SmallVector<int32_t, 12>, 4> bitOffsets_; ///< [dimension][bit of the coordinate]
  int32_t viewBits_ = 0;
  llvm::SmallVector<Padding, 2> paddings_;
};

/// Which accesses move a tensor of type `tensor` between registers and a view of type `buffer`. `options` says what the
/// target can do. None if elements lie in the memory of other CTAs.
std::optional<ir::LocalAccess> planAccess(mlir::RankedTensorType tensor, ir::ttg::MemDescType buffer,
                                          ir::LocalAccessOptions options);

/// The same with vectors alone.
std::optional<ir::LocalAccess> planVectorAccess(mlir::RankedTensorType tensor, ir::ttg::MemDescType buffer,
                                                ir::LocalAccessOptions options);

/// Whether the CTAs of a cluster store different parts of a buffer of which each has a copy: then each lacks what the
/// others stored.
bool leavesCopiesIncomplete(const ir::LocalAccess &access);

} // namespace jitk::nvidia
