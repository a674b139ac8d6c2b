// Rows of a sequence that lie scattered in the pages of a cache.
//
//   sequence   | 0 ........ | page_size .. | 2 page_size ..|        row r is row r % page_size
//   table      |     17     |      4       |      9        | ?      of page table[r / page_size]
//
// A block of rows may be a part of a page, or reach over several. What the table holds past the last page of a sequence
// is never looked at.

#pragma once

#include "src/kernels/vocabulary/KernelBuilder.h"

namespace jitk::kernels {

struct PagedCache {
  mlir::Value base;     ///< !tt.ptr of the cache [pages, pageSize, rowSize]
  mlir::Value numPages; ///< i32
  int64_t pageSize, rowSize;
};

/// Gathers blocks of `blockRows` rows of one sequence.
class PagedRows {
public:
  /// `table` points to the sequence's entries, i32.
  PagedRows(KernelBuilder &builder, const PagedCache &cache, mlir::Value table, int64_t blockRows)
      : builder_(builder), cache_(cache), table_(table), blockRows_(blockRows) {}

  /// The rows of the cache, i64 [blockRows], that hold `firstRow` and those after it. `firstRow` is a multiple of
  /// blockRows and at most `lastRow`; rows past the latter are the latter. An entry that names no page names the
  /// nearest one: what is read then means nothing, but lies in the cache.
  mlir::Value locate(mlir::Value firstRow, mlir::Value lastRow) const;

  /// Pointers to the columns of such rows.
  mlir::Value pointers(mlir::Value locatedRows, mlir::Value columns) const;

private:
  mlir::Value page(mlir::Value entry) const;

  KernelBuilder &builder_;
  PagedCache cache_;
  mlir::Value table_;
  int64_t blockRows_;
};

} // namespace jitk::kernels
