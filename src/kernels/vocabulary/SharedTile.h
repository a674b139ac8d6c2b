// A tile of a row-major matrix in shared memory, as TMA moves it and the tensor cores read it: panels of up to 128
// bytes a row, swizzled.

#pragma once

#include "src/ir/tt/Tt.h"
#include "src/ir/ttg/Ttg.h"

#include <cstdint>
#include <vector>

namespace jitk::kernels {

struct SharedTile {
  int64_t rows = 0, columns = 0;
  mlir::Type elementType;
  /// A part of a larger tile, see TileRows: its tensor map swizzles as that tile's does, however few rows it has.
  bool isPart = false;

  int64_t bytes() const { return rows * columns * elementType.getIntOrFloatBitWidth() / 8; }
  mlir::Attribute encoding() const;
  /// Columns of a panel: a tile lies in shared memory panel by panel, each of all rows.
  int64_t panelColumns() const;
  /// A buffer of one tile, or of a row of `slots` of them.
  ir::ttg::MemDescType bufferType(int64_t slots = 0) const;
  /// The descriptor of a matrix that is moved in such tiles; with a rank above 2, of matrices stacked along the outer
  /// dimensions, in which a tile belongs to one matrix.
  ir::tt::TensorDescType descriptorType(unsigned rank = 2) const;

  // The fields of its tensor map, as the driver has them; the box innermost dimension first.
  uint32_t mapElementType() const;
  uint32_t mapSwizzle() const;
  std::vector<uint32_t> mapBox(unsigned rank = 2) const;
};

} // namespace jitk::kernels
