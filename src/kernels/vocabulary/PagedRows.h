// Rows of a sequence that lie scattered in the pages of a cache.
//
//   sequence   | 0 ........ | page_size .. | 2 page_size ..|        row r is row r % page_size
//   table      |     17     |      4       |      9        | ?      of page table[r / page_size]
//
// A block of rows may be a part of a page, or reach over several. What the table holds past the last page of a sequence
// is never looked at.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

#include <optional>

namespace jitk::kernels {

struct PagedCache {
  mlir::Value base;     ///< !tt.ptr of the first row of the first page
  mlir::Value numPages; ///< i32
  int64_t pageSize;
  mlir::Value rowStride;                  ///< i64, in elements
  std::optional<int64_t> pageStride = {}; ///< in elements; none: pages follow one another
};

/// A block of rows of the cache.
struct PagedBlock {
  MatrixView page;    ///< that `rows` count in: a page that holds the block, or the cache
  mlir::Value rows;   ///< i32 or i64 [blockRows]; where pages lie apart the matrix has rows of single elements
  mlir::Value exists; ///< i1 [blockRows]: whether the sequence has the row
};

/// Gathers blocks of `blockRows` rows of one sequence.
class PagedRows {
public:
  /// `table` points to the sequence's entries, i32.
  PagedRows(KernelBuilder &builder, const PagedCache &cache, mlir::Value table, int64_t blockRows)
      : builder_(builder), cache_(cache), table_(table), blockRows_(blockRows) {}

  /// The rows from `firstRow`, a multiple of blockRows below `numRows`, the rows of the sequence. An entry that names
  /// no page names the nearest one: what is read then means nothing, but lies in the cache.
  PagedBlock locate(mlir::Value firstRow, mlir::Value numRows) const;
  /// The same in two halves, so that the table can be asked early: the entries of the block's rows, i32 [blockRows], of
  /// which those past the end are the last row's; `firstRow` may lie past the end.
  mlir::Value entries(mlir::Value firstRow, mlir::Value numRows) const;
  PagedBlock locate(mlir::Value entries, mlir::Value firstRow, mlir::Value numRows) const;

  /// Fills a buffer with the columns of such rows, zeros where there is no row: what lies there may be NaN, which a
  /// weight of zero does not remove.
  void fill(mlir::Value buffer, const PagedBlock &block, mlir::Value columns) const;

private:
  mlir::Value rowsOf(mlir::Value firstRow, mlir::Value numRows) const;
  mlir::Value page(mlir::Value entry) const;

  KernelBuilder &builder_;
  PagedCache cache_;
  mlir::Value table_;
  int64_t blockRows_;
};

} // namespace jitk::kernels
