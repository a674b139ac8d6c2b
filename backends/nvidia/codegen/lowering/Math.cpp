// Functions of the math dialect, and those of a device library that tt.extern_elementwise names. f32 is computed by the
// approximate instructions, with their accuracy; f16 and bf16 through f32.

#include "mlir/Dialect/Math/IR/Math.h"

#include "backends/nvidia/codegen/lowering/DoubleMath.h"
#include "backends/nvidia/codegen/lowering/Elementwise.h"
#include "backends/nvidia/codegen/lowering/FloatConversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace jitk::ir;

namespace jitk::nvidia {

constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453, kLog10Of2 = 0.3010299956639812;

namespace {
/// Arithmetic on f32 values that may be contracted.
struct F32 {
  LoweringBuilder &b;

  Value constant(double value) { return b.f32(value); }
  Value add(Value x, Value y) { return LLVM::FAddOp::create(b, b.loc(), x, y, LLVM::FastmathFlags::contract); }
  Value sub(Value x, Value y) { return LLVM::FSubOp::create(b, b.loc(), x, y, LLVM::FastmathFlags::contract); }
  Value mul(Value x, Value y) { return LLVM::FMulOp::create(b, b.loc(), x, y, LLVM::FastmathFlags::contract); }
  Value mul(Value x, double y) { return mul(x, constant(y)); }
  Value fma(Value x, Value y, Value z) { return LLVM::FMAOp::create(b, b.loc(), x, y, z); }
  Value abs(Value x) { return LLVM::FAbsOp::create(b, b.loc(), x); }
  Value copySign(Value x, Value sign) { return LLVM::CopySignOp::create(b, b.loc(), x, sign); }
  Value less(Value x, Value y) { return LLVM::FCmpOp::create(b, b.loc(), LLVM::FCmpPredicate::olt, x, y); }

  /// The polynomial with the given coefficients, highest power first.
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.front());
    for (double coefficient : coefficients.drop_front()) {
      sum = fma(sum, x, constant(coefficient));
    }
    return sum;
  }

  Value exp2(Value x) { return b.instValue("ex2.approx.f32", x); }
  Value exp2OfNormal(Value x) { return b.instValue("ex2.approx.ftz.f32", x); }
  Value exp(Value x) { return exp2(mul(x, kLog2E)); }
  Value log2(Value x) { return b.instValue("lg2.approx.f32", x); }
  Value log(Value x) { return mul(log2(x), kLn2); }
  Value log10(Value x) { return mul(log2(x), kLog10Of2); }
  Value sqrt(Value x) { return b.instValue("sqrt.approx.f32", x); }
  Value rsqrt(Value x) { return b.instValue("rsqrt.approx.f32", x); }
  Value reciprocal(Value x) { return b.instValue("rcp.approx.f32", x); }
  static bool isOne(Value x) {
    auto one = x.getDefiningOp<LLVM::ConstantOp>();
    auto number = one ? dyn_cast<FloatAttr>(one.getValue()) : FloatAttr();
    return number && number.getValue().isExactlyValue(1);
  }
  Value divide(Value x, Value y) { return isOne(x) ? reciprocal(y) : b.instValue("div.full.f32", {x, y}); }
  Value divideNormal(Value x, Value y) {
    return isOne(x) ? b.instValue("rcp.approx.ftz.f32", y) : b.instValue("div.full.ftz.f32", {x, y});
  }
  Value floor(Value x) { return LLVM::FFloorOp::create(b, b.loc(), x); }

  Value tanh(Value x);
  Value approximateTanh(Value x) { return b.instValue("tanh.approx.f32", x); }
  Value erf(Value x);
  Value sin(Value x) { return b.instValue("sin.approx.f32", reduceAngle(x)); }
  Value cos(Value x) { return b.instValue("cos.approx.f32", reduceAngle(x)); }
  Value log1p(Value x);
  Value expm1(Value x);
  Value pow(Value x, Value y);

private:
  Value reduceAngle(Value x);
};
} // namespace

Value F32::tanh(Value x) {
  // Near zero a polynomial keeps the relative accuracy that 1 - 2 / (e^2x + 1) loses. Coefficients: Cephes, tanhf.
  Value magnitude = abs(x), square = mul(x, x);
  Value series =
      polynomial(square, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1});
  Value near = fma(mul(series, square), x, x);
  Value inverse = reciprocal(add(exp2(mul(magnitude, 2 * kLog2E)), constant(1)));
  Value far = copySign(fma(inverse, constant(-2), constant(1)), x);
  return b.select(less(magnitude, constant(0.625)), near, far);
}

Value F32::erf(Value x) {
  // Below 1: x P(x^2), coefficients of Cephes' erff. Above: Abramowitz and Stegun 7.1.26, error 1.5e-7.
  Value magnitude = abs(x), square = mul(x, x);
  Value near = mul(
      x, polynomial(square, {7.853861353153693e-5, -8.010193625184903e-4, 5.188327685732524e-3, -2.685381193529856e-2,
                             1.128358514861418e-1, -3.761262582423300e-1, 1.128379165726710}));
  Value t = reciprocal(fma(magnitude, constant(0.3275911), constant(1)));
  Value tail = mul(polynomial(t, {1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592, 0}),
                   exp2(mul(square, -kLog2E)));
  Value far = copySign(sub(constant(1), tail), x);
  return b.select(less(magnitude, constant(1)), near, far);
}

Value F32::reduceAngle(Value x) {
  // x - 2 pi k, with 2 pi in two parts so that the difference is exact for moderate k.
  constexpr double kTwoPiHigh = 6.2831854820251465, kTwoPiLow = -1.7484555314695172e-7;
  Value turns = LLVM::RoundEvenOp::create(b, b.loc(), mul(x, 0.15915494309189535));
  Value reduced = fma(turns, constant(-kTwoPiHigh), x);
  return fma(turns, constant(-kTwoPiLow), reduced);
}

Value F32::log1p(Value x) {
  // log(u) x / (u - 1) with u = 1 + x as rounded cancels the rounding of u.
  Value one = constant(1), u = LLVM::FAddOp::create(b, b.loc(), x, one);
  Value correction = divide(x, LLVM::FSubOp::create(b, b.loc(), u, one));
  Value exact = LLVM::FCmpOp::create(b, b.loc(), LLVM::FCmpPredicate::oeq, u, one);
  return b.select(exact, x, mul(log(u), correction));
}

Value F32::expm1(Value x) {
  // Near zero the Taylor series.
  Value near = mul(x, polynomial(x, {1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1}));
  return b.select(less(abs(x), constant(0.35)), near, sub(exp(x), constant(1)));
}

Value F32::pow(Value x, Value y) {
  // Negative bases have a power for integer exponents only, negative for odd ones.
  Value power = exp2(mul(y, log2(abs(x))));
  Value integral = LLVM::FCmpOp::create(b, b.loc(), LLVM::FCmpPredicate::oeq, y, floor(y));
  Value half = mul(y, 0.5);
  Value odd = LLVM::FCmpOp::create(b, b.loc(), LLVM::FCmpPredicate::une, half, floor(half));
  Value negated = LLVM::FNegOp::create(b, b.loc(), power);
  Value ofNegative = b.select(integral, b.select(odd, negated, power), constant(NAN));
  Value one = LLVM::FCmpOp::create(b, b.loc(), LLVM::FCmpPredicate::oeq, y, constant(0));
  return b.select(one, constant(1), b.select(less(x, constant(0)), ofNegative, power));
}

using Unary = Value (F32::*)(Value);
using Binary = Value (F32::*)(Value, Value);

/// Applies `emit` to f32 values; narrower floats are converted there and back.
static LogicalResult lowerThroughF32(Operation *op, FunctionLowering &f,
                                     llvm::function_ref<Value(F32 &, ArrayRef<Value>)> emit) {
  Type element = f.elementType(op->getResult(0).getType());
  if (!isa<FloatType>(element) || element.getIntOrFloatBitWidth() > 32) {
    return op->emitOpError("is supported on f16, bf16 and f32: got ") << element;
  }
  lowerElementwise(op, f, [&](LoweringBuilder &b, Type type, ArrayRef<Value> operands) {
    F32 f32{b};
    SmallVector<Value, 3> wide =
        llvm::map_to_vector<3>(operands, [&](Value operand) { return convertFloat(b, operand, b.getF32Type()); });
    return convertFloat(b, emit(f32, wide), type);
  });
  return success();
}

template <typename Op, Unary function> static LogicalResult lowerUnary(Op op, FunctionLowering &f) {
  return lowerThroughF32(op, f, [](F32 &f32, ArrayRef<Value> operands) { return (f32.*function)(operands[0]); });
}

using Wide = Value (DoubleMath::*)(Value);

template <Wide wide> static LogicalResult lowerWide(Operation *op, FunctionLowering &f) {
  lowerElementwise(
      op, f, [](LoweringBuilder &b, Type, ArrayRef<Value> operands) { return (DoubleMath{b}.*wide)(operands[0]); });
  return success();
}

/// A function that has a form for f64 as well.
template <typename Op, Unary function, Wide wide> static LogicalResult lowerUnaryOrWide(Op op, FunctionLowering &f) {
  return f.elementType(op.getType()).isF64() ? lowerWide<wide>(op, f) : lowerUnary<Op, function>(op, f);
}

template <typename Op, Binary function> static LogicalResult lowerBinary(Op op, FunctionLowering &f) {
  return lowerThroughF32(op, f,
                         [](F32 &f32, ArrayRef<Value> operands) { return (f32.*function)(operands[0], operands[1]); });
}

/// An approximation that may take subnormal numbers for zero is one instruction, instead of four.
static LogicalResult lowerExp2(math::Exp2Op op, FunctionLowering &f) {
  if (f.elementType(op.getType()).isF64()) {
    return lowerWide<&DoubleMath::exp2>(op, f);
  }
  bool isApproximate = arith::bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn);
  return lowerThroughF32(op, f, [&](F32 &f32, ArrayRef<Value> operands) {
    return isApproximate ? f32.exp2OfNormal(operands[0]) : f32.exp2(operands[0]);
  });
}

/// An approximation is one instruction, which is off by 2^-11 of the result.
static LogicalResult lowerTanh(math::TanhOp op, FunctionLowering &f) {
  bool isApproximate = arith::bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn);
  return isApproximate ? lowerUnary<math::TanhOp, &F32::approximateTanh>(op, f)
                       : lowerUnary<math::TanhOp, &F32::tanh>(op, f);
}

static LogicalResult lowerDivide(arith::DivFOp op, FunctionLowering &f) {
  if (f.elementType(op.getType()).isF64()) {
    return lowerDirectly<arith::DivFOp, LLVM::FDivOp>(op, f);
  }
  // As with powers: what is subnormal may count as zero.
  bool isApproximate = arith::bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn);
  return lowerThroughF32(op, f, [&](F32 &f32, ArrayRef<Value> operands) {
    return isApproximate ? f32.divideNormal(operands[0], operands[1]) : f32.divide(operands[0], operands[1]);
  });
}

static LogicalResult lowerSquareRoot(math::SqrtOp op, FunctionLowering &f) {
  if (f.elementType(op.getType()).isF64()) {
    return lowerDirectly<math::SqrtOp, LLVM::SqrtOp>(op, f);
  }
  return lowerUnary<math::SqrtOp, &F32::sqrt>(op, f);
}

static LogicalResult lowerAbsoluteInteger(math::AbsIOp op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type type, ArrayRef<Value> operands) -> Value {
    return LLVM::AbsOp::create(b, b.loc(), type, operands[0], /*is_int_min_poison=*/false);
  });
  return success();
}

static LogicalResult lowerLeadingZeros(math::CountLeadingZerosOp op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type type, ArrayRef<Value> operands) -> Value {
    return LLVM::CountLeadingZerosOp::create(b, b.loc(), type, operands[0], /*is_zero_poison=*/false);
  });
  return success();
}

static LogicalResult lowerTrailingZeros(math::CountTrailingZerosOp op, FunctionLowering &f) {
  lowerElementwise(op, f, [](LoweringBuilder &b, Type type, ArrayRef<Value> operands) -> Value {
    return LLVM::CountTrailingZerosOp::create(b, b.loc(), type, operands[0], /*is_zero_poison=*/false);
  });
  return success();
}

/// The functions of a CUDA device library that have an equivalent here.
static LogicalResult lowerExtern(tt::ExternElementwiseOp op, FunctionLowering &f) {
  Unary unary = llvm::StringSwitch<Unary>(op.getSymbol())
                    .Cases({"__nv_expf", "__nv_fast_expf"}, &F32::exp)
                    .Cases({"__nv_exp2f", "__nv_fast_exp2f"}, &F32::exp2)
                    .Cases({"__nv_logf", "__nv_fast_logf"}, &F32::log)
                    .Cases({"__nv_log2f", "__nv_fast_log2f"}, &F32::log2)
                    .Cases({"__nv_log10f", "__nv_fast_log10f"}, &F32::log10)
                    .Case("__nv_log1pf", &F32::log1p)
                    .Case("__nv_expm1f", &F32::expm1)
                    .Case("__nv_sqrtf", &F32::sqrt)
                    .Case("__nv_rsqrtf", &F32::rsqrt)
                    .Cases({"__nv_sinf", "__nv_fast_sinf"}, &F32::sin)
                    .Cases({"__nv_cosf", "__nv_fast_cosf"}, &F32::cos)
                    .Case("__nv_tanhf", &F32::tanh)
                    .Case("__nv_erff", &F32::erf)
                    .Case("__nv_fabsf", &F32::abs)
                    .Case("__nv_floorf", &F32::floor)
                    .Default(nullptr);
  Binary binary = llvm::StringSwitch<Binary>(op.getSymbol())
                      .Cases({"__nv_powf", "__nv_fast_powf"}, &F32::pow)
                      .Case("__nv_fast_fdividef", &F32::divide)
                      .Case("__nv_copysignf", &F32::copySign)
                      .Default(nullptr);
  if (unary && op->getNumOperands() == 1) {
    return lowerThroughF32(op, f, [&](F32 &f32, ArrayRef<Value> operands) { return (f32.*unary)(operands[0]); });
  }
  if (binary && op->getNumOperands() == 2) {
    return lowerThroughF32(op, f,
                           [&](F32 &f32, ArrayRef<Value> operands) { return (f32.*binary)(operands[0], operands[1]); });
  }
  return op.emitOpError("names a function that has no equivalent: ") << op.getSymbol();
}

void populateMathLowerings(LoweringTable &table) {
  table.add(lowerUnaryOrWide<math::ExpOp, &F32::exp, &DoubleMath::exp>);
  table.add(lowerExp2);
  table.add(lowerUnary<math::ExpM1Op, &F32::expm1>);
  table.add(lowerUnaryOrWide<math::LogOp, &F32::log, &DoubleMath::log>);
  table.add(lowerUnaryOrWide<math::Log2Op, &F32::log2, &DoubleMath::log2>);
  table.add(lowerUnaryOrWide<math::Log10Op, &F32::log10, &DoubleMath::log10>);
  table.add(lowerUnary<math::Log1pOp, &F32::log1p>);
  table.add(lowerUnaryOrWide<math::RsqrtOp, &F32::rsqrt, &DoubleMath::rsqrt>);
  table.add(lowerUnary<math::SinOp, &F32::sin>);
  table.add(lowerUnary<math::CosOp, &F32::cos>);
  table.add(lowerTanh);
  table.add(lowerUnary<math::ErfOp, &F32::erf>);
  table.add(lowerBinary<math::PowFOp, &F32::pow>);
  table.add(lowerSquareRoot);
  table.add(lowerDivide);
  table.add(lowerDirectly<tt::PreciseSqrtOp, LLVM::SqrtOp>);
  table.add(lowerDirectly<tt::PreciseDivFOp, LLVM::FDivOp>);
  table.add(lowerDirectly<math::FmaOp, LLVM::FMAOp>);
  table.add(lowerDirectly<math::AbsFOp, LLVM::FAbsOp>);
  table.add(lowerDirectly<math::CopySignOp, LLVM::CopySignOp>);
  table.add(lowerDirectly<math::FloorOp, LLVM::FFloorOp>);
  table.add(lowerDirectly<math::CeilOp, LLVM::FCeilOp>);
  table.add(lowerDirectly<math::TruncOp, LLVM::FTruncOp>);
  table.add(lowerDirectly<math::RoundOp, LLVM::RoundOp>);
  table.add(lowerDirectly<math::RoundEvenOp, LLVM::RoundEvenOp>);
  table.add(lowerDirectly<math::CtPopOp, LLVM::CtPopOp>);
  table.add(lowerLeadingZeros);
  table.add(lowerTrailingZeros);
  table.add(lowerAbsoluteInteger);
  table.add(lowerExtern);
}

} // namespace jitk::nvidia
