// The vocabulary in which kernels are written: an OpBuilder that speaks of sizes, tiles, buffers and masks, so that a
// kernel reads like its algorithm. Everything here makes CommonIR: tensors have no encoding.

#pragma once

#include "src/ir/tile/Tile.h"
#include "src/kernels/vocabulary/KernelProgram.h"

#include <memory>

namespace jitk::kernels {

/// A rectangle of a row-major matrix in global memory: element (r, c) lies at `base + r * rowStride + c`.
struct MatrixView {
  mlir::Value base;      ///< !tt.ptr of the element at (0, 0)
  mlir::Value rowStride; ///< i64, in elements
};

/// Builds one device function: a step of a program, or all of a kernel that has but one. Scalars are i32 unless a name
/// says otherwise; sizes that are static fold into constants.
class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  /// Opens a program of one step that takes every parameter, and stands in its body.
  KernelBuilder(mlir::MLIRContext &context, const KernelSignature &signature, const Target &target,
                llvm::StringRef symbol, unsigned numWarps);

  /// Ends the function and the program of one step; `grid` as in LaunchStep.
  BuiltKernel finish(std::array<Expression, 3> grid) &&;

  // Parameters.
  mlir::Value tensorParameter(llvm::StringRef name); ///< pointer to a tensor or to a region of the workspace
  /// The descriptor of a tiled tensor for one of the tiles that it was declared with.
  mlir::Value descriptorParameter(llvm::StringRef name, const SharedTile &tile);
  mlir::Value scalar(llvm::StringRef name); ///< f32
  mlir::Value size(llvm::StringRef name);   ///< i32; a constant if the dimension is static
  const Dimension &dimension(llvm::StringRef name) const { return signature_.size(name); }
  /// Whether the dimension is known to be a multiple of `factor`.
  bool isMultiple(llvm::StringRef name, int64_t factor) const;
  /// Elements from one row of the tensor to the next, where its rows lie apart.
  std::optional<int64_t> rowStride(llvm::StringRef tensor) const { return signature_.rowStride(tensor); }
  /// Elements from one page of the tensor to the next, where its pages lie apart.
  std::optional<int64_t> pageStride(llvm::StringRef tensor) const { return signature_.pageStride(tensor); }
  /// The same, i64: its stride, or what a row has where rows lie side by side.
  mlir::Value rowStride(llvm::StringRef tensor, mlir::Value row);
  /// The tensor as a matrix whose rows have `row` elements.
  MatrixView matrix(llvm::StringRef tensor, mlir::Value row) {
    return {tensorParameter(tensor), rowStride(tensor, row)};
  }

  // Scalars, i32.
  mlir::Value i32(int64_t value);
  mlir::Value i64(int64_t value);
  mlir::Value f32(double value);
  mlir::Value boolean(bool value);
  mlir::Value programId(unsigned axis);
  mlir::Value numPrograms(unsigned axis);
  // Programs along x in clusters; without clusters each is one of its own.
  unsigned clusterSize() const { return clusterSize_; }
  mlir::Value clusterRank(); ///< of the program in its cluster
  mlir::Value clusterId();
  mlir::Value numClusters();
  mlir::Value toI64(mlir::Value value); ///< itself if it is i64
  mlir::Value toI32(mlir::Value value); ///< of an i64 that fits
  /// Arithmetic on two scalars or two tensors of one type; folds constants.
  mlir::Value add(mlir::Value lhs, mlir::Value rhs);
  mlir::Value sub(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mul(mlir::Value lhs, mlir::Value rhs);
  mlir::Value div(mlir::Value lhs, mlir::Value rhs); ///< signed, toward zero
  mlir::Value rem(mlir::Value lhs, mlir::Value rhs);
  mlir::Value ceilDiv(mlir::Value lhs, int64_t divisor); ///< for lhs >= 0
  mlir::Value minimum(mlir::Value lhs, mlir::Value rhs); ///< signed
  mlir::Value maximum(mlir::Value lhs, mlir::Value rhs); ///< signed
  mlir::Value lessThan(mlir::Value lhs, mlir::Value rhs);
  mlir::Value lessEqual(mlir::Value lhs, mlir::Value rhs);
  mlir::Value equal(mlir::Value lhs, mlir::Value rhs);
  mlir::Value both(mlir::Value lhs, mlir::Value rhs);
  mlir::Value select(mlir::Value condition, mlir::Value ifTrue, mlir::Value ifFalse);

  // Floating point, scalars or tensors.
  mlir::Value addf(mlir::Value lhs, mlir::Value rhs);
  mlir::Value subf(mlir::Value lhs, mlir::Value rhs);
  mlir::Value mulf(mlir::Value lhs, mlir::Value rhs);
  mlir::Value divf(mlir::Value lhs, mlir::Value rhs);
  mlir::Value fma(mlir::Value lhs, mlir::Value rhs, mlir::Value addend); ///< lhs * rhs + addend, rounded once
  mlir::Value maxf(mlir::Value lhs, mlir::Value rhs);                    ///< the other operand if one is NaN
  mlir::Value exp2(mlir::Value value);                                   ///< approximate; subnormal numbers are zero
  mlir::Value log2(mlir::Value value);
  mlir::Value rsqrt(mlir::Value value);
  mlir::Value equalf(mlir::Value lhs, mlir::Value rhs);    ///< ordered
  mlir::Value lessThanf(mlir::Value lhs, mlir::Value rhs); ///< ordered
  /// Rounds or widens to `elementType`.
  mlir::Value convert(mlir::Value value, mlir::Type elementType);

  // Tensors.
  mlir::RankedTensorType tensorType(llvm::ArrayRef<int64_t> shape, mlir::Type elementType);
  mlir::Value range(int64_t size); ///< tensor<size x i32>: 0, 1, ...
  mlir::Value splat(mlir::Value scalar, llvm::ArrayRef<int64_t> shape);
  mlir::Value unsplat(mlir::Value tensor);                     ///< the element of a tensor of one
  mlir::Value splatLike(mlir::Value scalar, mlir::Value like); ///< as large as `like`: itself if that is a scalar
  mlir::Value full(double value, llvm::ArrayRef<int64_t> shape, mlir::Type elementType);
  mlir::Value asColumn(mlir::Value vector, int64_t columns);             ///< [r] to [r, columns]
  mlir::Value asRow(mlir::Value vector, int64_t rows);                   ///< [c] to [rows, c]
  mlir::Value expand(mlir::Value tensor, unsigned axis);                 ///< adds an axis of size 1
  mlir::Value spread(mlir::Value tensor, llvm::ArrayRef<int64_t> shape); ///< repeats along axes of size 1
  mlir::Value transpose(mlir::Value matrix);
  /// accumulator + lhs * rhs on tensor cores. Operands of fp32 are multiplied as sums of two tf32 numbers each, which
  /// keeps 20 of their 24 bits.
  mlir::Value dot(mlir::Value lhs, mlir::Value rhs, mlir::Value accumulator);
  /// The matrix in parts of `columns` columns, left to right; both counts are powers of two.
  llvm::SmallVector<mlir::Value> splitColumns(mlir::Value matrix, int64_t columns);
  mlir::Value reduceRowsMax(mlir::Value matrix); ///< [r, c] to [r], over c
  mlir::Value reduceRowsSum(mlir::Value matrix);
  /// Sums over an axis, of floats or integers; of a vector, a scalar.
  mlir::Value reduceSum(mlir::Value tensor, unsigned axis);
  /// Whether an element that the warp holds is true, for each warp: see ttng.warp_any for what may depend on it.
  mlir::Value warpAny(mlir::Value tensor);
  /// Inclusive sums of a vector from its first element on.
  mlir::Value cumulativeSum(mlir::Value vector);
  mlir::Value reshape(mlir::Value tensor, llvm::ArrayRef<int64_t> shape);

  // Products of a warpgroup, in flight until they are awaited: only then is the accumulator, and are the buffers, free.
  /// accumulator + lhs * rhs, or lhs * rhs alone where `accumulates` is false. rhs [k, n] is a buffer, lhs [m, k] too
  /// or a tensor. Sums of fp8 have the precision of the tensor cores: who sums more than 128 of K promotes.
  mlir::Value startProduct(mlir::Value lhs, mlir::Value rhs, mlir::Value accumulator, bool accumulates = true) {
    return startProduct(lhs, rhs, accumulator, accumulates ? mlir::Value() : boolean(false));
  }
  /// The same where `accumulates`, an i1, is known at run time; null: it does.
  mlir::Value startProduct(mlir::Value lhs, mlir::Value rhs, mlir::Value accumulator, mlir::Value accumulates);
  /// One product of 64 rows with columns in several parts, buffers of one layout that lie one behind the other: an
  /// accumulator each. In 16 bits.
  llvm::SmallVector<mlir::Value> startProductOfParts(mlir::Value lhs, mlir::ValueRange rhs,
                                                     mlir::ValueRange accumulators, mlir::Value accumulates);
  /// The accumulator when at most the last `inFlight` products are not done.
  mlir::Value awaitProducts(mlir::Value accumulator, unsigned inFlight);
  /// The same for several accumulators, and for tensors that products read as their left operand.
  llvm::SmallVector<mlir::Value> awaitProducts(mlir::ValueRange tensors, unsigned inFlight);
  /// A buffer seen with its dimensions exchanged.
  mlir::Value transposeBuffer(mlir::Value buffer);

  // Global memory.
  /// `pointer + offset` elements; offset i32 or i64.
  mlir::Value advance(mlir::Value pointer, mlir::Value offset);
  /// Pointers to the elements (rows[i], columns[j]) of a matrix; rows and columns are i32 vectors.
  mlir::Value pointers(const MatrixView &matrix, mlir::Value rows, mlir::Value columns);
  /// Pointers to `base + offsets`.
  mlir::Value pointers(mlir::Value base, mlir::Value offsets);
  /// Loads; where the mask is false the result is `other` (zero). A null mask loads everything.
  mlir::Value load(mlir::Value pointers, mlir::Value mask = {}, double other = 0.0);
  void store(mlir::Value pointers, mlir::Value value, mlir::Value mask = {});
  /// Adds to the scalar at `pointer`, without an order to other accesses; gives what was there.
  mlir::Value fetchAdd(mlir::Value pointer, mlir::Value value);

  // Shared memory.
  mlir::Value buffer(llvm::ArrayRef<int64_t> shape, mlir::Type elementType);
  void copyIn(mlir::Value pointers, mlir::Value buffer);
  mlir::Value read(mlir::Value buffer);
  void write(mlir::Value tensor, mlir::Value buffer);
  /// Fills a buffer from global memory: a copy where `mask` is null, else a masked load with zeros and a store.
  void fill(mlir::Value buffer, mlir::Value pointers, mlir::Value mask = {});

  // Control flow.
  using LoopBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value index, mlir::ValueRange carried)>;
  using Body = llvm::function_ref<void()>;
  /// Runs one of the two bodies; a null one does nothing.
  void ifElse(mlir::Value condition, Body ifTrue, Body ifFalse = {});
  /// What `body` gives where the condition holds, else `otherwise`.
  llvm::SmallVector<mlir::Value>
  ifThen(mlir::Value condition, llvm::function_ref<llvm::SmallVector<mlir::Value>()> body, mlir::ValueRange otherwise);
  /// `for (i = lower; i < upper; i += step)` with carried values; returns their last values. No loop is made if the
  /// bounds are constants and it would not run.
  llvm::SmallVector<mlir::Value> loop(mlir::Value lower, mlir::Value upper, int64_t step, mlir::ValueRange carried,
                                      LoopBody body) {
    return loop(lower, upper, i32(step), carried, body);
  }
  llvm::SmallVector<mlir::Value> loop(mlir::Value lower, mlir::Value upper, mlir::Value step, mlir::ValueRange carried,
                                      LoopBody body);
  /// Runs `body` while `condition` holds of the carried values; returns the last ones.
  llvm::SmallVector<mlir::Value> loopWhile(mlir::ValueRange carried,
                                           llvm::function_ref<mlir::Value(mlir::ValueRange carried)> condition,
                                           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> body);

private:
  friend class KernelProgram;
  /// Opens a function in the program's module and stands in its body.
  KernelBuilder(KernelProgram &program, const KernelProgram::Step &step);
  KernelBuilder(std::unique_ptr<KernelProgram> program, const KernelProgram::Step &step);
  /// Ends the function; adds the step to the program's recipe.
  void close(const std::array<Expression, 3> &grid) &&;

  mlir::Type parameterType(const KernelSignature::Parameter &parameter);
  mlir::Value parameter(llvm::StringRef name);
  mlir::Value reduce(mlir::Value tensor, unsigned axis,
                     llvm::function_ref<mlir::Value(mlir::Value, mlir::Value)> combine);
  /// The tensor type of `like` with another element type, or the scalar type itself.
  mlir::Type withElement(mlir::Type like, mlir::Type elementType);

  std::unique_ptr<KernelProgram> ownProgram_; ///< of a kernel of one step
  KernelProgram &program_;
  const KernelSignature &signature_;
  llvm::SmallVector<const KernelSignature::Parameter *> parameters_; ///< those that the step takes
  ir::tt::FuncOp function_;
  unsigned numWarps_, clusterSize_;
};

/// The element type of a dtype word of the schemas ("fp16", "bf16", "fp32", "e4m3", "int32").
mlir::Type elementTypeOf(llvm::StringRef dtype, mlir::MLIRContext &context);

} // namespace jitk::kernels
