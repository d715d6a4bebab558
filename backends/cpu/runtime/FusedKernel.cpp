// The tile evaluator's operations on f32 (and on bools, which are f32 of 0 and 1 in a tile),
// vectorised.
#include "backends/cpu/runtime/Fused.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "backends/cpu/runtime/Lanes.h"
#include "backends/cpu/runtime/UniformNumbers.h"
#include "backends/cpu/runtime/Vector.h"
#include "executor/base/ElementaryFunctions.h"

namespace lstmc::cpu::LSTMC_CPU_NAMESPACE {

namespace {

Vector one() { return Vector::broadcast(1.0f); }
Vector truth(Vector::Mask m) { return select(m, one(), Vector::zero()); }
Vector::Mask holds(Vector a) { return a != Vector::zero(); }

/// out[i] = Op(in[0][i * step], ...). An input with step 0 is repeated in memory, so that it is
/// loaded like any other.
template <typename Op> void map1(const TileArgs &args) {
  auto *out = static_cast<float *>(args.out);
  auto *a = static_cast<const float *>(args.in[0]);
  int64_t stepA = args.step[0] * kWidth;
  int64_t i = 0;
  for (; i + kWidth <= args.count; i += kWidth, a += stepA)
    Op::apply(Vector::load(a)).store(out + i);
  if (i < args.count) {
    Vector::Mask rest = Vector::firstLanes(args.count - i);
    Op::apply(Vector::load(a, rest)).store(out + i, rest);
  }
}

template <typename Op> void map2(const TileArgs &args) {
  auto *out = static_cast<float *>(args.out);
  auto *a = static_cast<const float *>(args.in[0]);
  auto *b = static_cast<const float *>(args.in[1]);
  int64_t stepA = args.step[0] * kWidth, stepB = args.step[1] * kWidth;
  int64_t i = 0;
  for (; i + 2 * kWidth <= args.count; i += 2 * kWidth) {
    Vector first = Op::apply(Vector::load(a), Vector::load(b));
    Vector second = Op::apply(Vector::load(a + stepA), Vector::load(b + stepB));
    first.store(out + i);
    second.store(out + i + kWidth);
    a += 2 * stepA;
    b += 2 * stepB;
  }
  for (; i < args.count; i += kWidth, a += stepA, b += stepB) {
    Vector::Mask rest = Vector::firstLanes(args.count - i);
    Op::apply(Vector::load(a, rest), Vector::load(b, rest)).store(out + i, rest);
  }
}

template <typename Op> void map3(const TileArgs &args) {
  auto *out = static_cast<float *>(args.out);
  auto *a = static_cast<const float *>(args.in[0]);
  auto *b = static_cast<const float *>(args.in[1]);
  auto *c = static_cast<const float *>(args.in[2]);
  int64_t stepA = args.step[0] * kWidth, stepB = args.step[1] * kWidth;
  int64_t stepC = args.step[2] * kWidth;
  int64_t i = 0;
  for (; i + kWidth <= args.count; i += kWidth, a += stepA, b += stepB, c += stepC)
    Op::apply(Vector::load(a), Vector::load(b), Vector::load(c)).store(out + i);
  if (i < args.count) {
    Vector::Mask rest = Vector::firstLanes(args.count - i);
    Op::apply(Vector::load(a, rest), Vector::load(b, rest), Vector::load(c, rest))
        .store(out + i, rest);
  }
}

/// Nearest integer, halves away from 0; the fraction is computed exactly.
Vector roundAway(Vector a) {
  Vector whole = trunc(a);
  Vector::Mask up = abs(a - whole) >= Vector::broadcast(0.5f);
  return select(up, whole + copySign(one(), a), whole);
}

#define LSTMC_OP1(NAME, EXPRESSION)                                                                \
  struct NAME {                                                                                    \
    static LSTMC_INLINE Vector apply(Vector a) { return EXPRESSION; }                              \
  };
#define LSTMC_OP2(NAME, EXPRESSION)                                                                \
  struct NAME {                                                                                    \
    static LSTMC_INLINE Vector apply(Vector a, Vector b) { return EXPRESSION; }                    \
  };
#define LSTMC_OP3(NAME, EXPRESSION)                                                                \
  struct NAME {                                                                                    \
    static LSTMC_INLINE Vector apply(Vector a, Vector b, Vector c) { return EXPRESSION; }          \
  };

LSTMC_OP2(Add, a + b)
LSTMC_OP2(Sub, a - b)
LSTMC_OP2(Mul, a *b)
LSTMC_OP2(Div, a / b)
LSTMC_OP2(Max, maximum(a, b))
LSTMC_OP2(Min, minimum(a, b))
LSTMC_OP3(Fma, fma(a, b, c))
LSTMC_OP2(Equal, truth(a == b))
LSTMC_OP2(NotEqual, truth(a != b))
LSTMC_OP2(Less, truth(a < b))
LSTMC_OP2(LessEqual, truth(a <= b))
LSTMC_OP2(Greater, truth(a > b))
LSTMC_OP2(GreaterEqual, truth(a >= b))
LSTMC_OP2(And, truth(holds(a) & holds(b)))
LSTMC_OP2(Or, truth(holds(a) | holds(b)))
LSTMC_OP2(Xor, truth(truth(holds(a)) != truth(holds(b))))
LSTMC_OP1(Not, truth(!holds(a)))
LSTMC_OP3(Select, select(holds(a), b, c))
LSTMC_OP1(Neg, -a)
LSTMC_OP1(Abs, abs(a))
LSTMC_OP1(Sign, select(a > Vector::zero(), one(),
                       select(a < Vector::zero(), -one(), select(a == a, Vector::zero(), a))))
LSTMC_OP1(Floor, floor(a))
LSTMC_OP1(Ceil, ceil(a))
LSTMC_OP1(Trunc, trunc(a))
LSTMC_OP1(Round, roundAway(a))
LSTMC_OP1(Rint, select(a - floor(a) <= ceil(a) - a, floor(a), ceil(a)))
LSTMC_OP1(Sqrt, sqrt(a))
LSTMC_OP1(Exp, exponential(a))
LSTMC_OP1(Log, logarithm(a))
LSTMC_OP1(Tanh, hyperbolicTangent(a))
LSTMC_OP1(Sigmoid, sigmoid(a))

#undef LSTMC_OP1
#undef LSTMC_OP2
#undef LSTMC_OP3

void uniformNumbers(const TileArgs &args) {
  if (args.step[0] || args.step[1])
    return scalarTileFunction(ScalarOp::Uniform, DType::F32, DType::F32)(args);
  auto *seed = static_cast<const int64_t *>(args.in[0]);
  auto *update = static_cast<const int64_t *>(args.in[1]);
  fillUniform(static_cast<float *>(args.out), args.count, uint64_t(*seed), args.first,
              uint32_t(int64_t(args.immediate)), uint32_t(*update));
}

constexpr FusedTable makeTable() {
  FusedTable table{};
  auto set = [&](ScalarOp op, TileFunction function) { table.f32[int(op)] = function; };
#define LSTMC_MAP(N, OP) set(ScalarOp::OP, map##N<OP>);
  LSTMC_MAP(2, Add)
  LSTMC_MAP(2, Sub)
  LSTMC_MAP(2, Mul)
  LSTMC_MAP(2, Div)
  LSTMC_MAP(2, Max)
  LSTMC_MAP(2, Min)
  LSTMC_MAP(3, Fma)
  LSTMC_MAP(2, Equal)
  LSTMC_MAP(2, NotEqual)
  LSTMC_MAP(2, Less)
  LSTMC_MAP(2, LessEqual)
  LSTMC_MAP(2, Greater)
  LSTMC_MAP(2, GreaterEqual)
  LSTMC_MAP(2, And)
  LSTMC_MAP(2, Or)
  LSTMC_MAP(2, Xor)
  LSTMC_MAP(1, Not)
  LSTMC_MAP(3, Select)
  LSTMC_MAP(1, Neg)
  LSTMC_MAP(1, Abs)
  LSTMC_MAP(1, Sign)
  LSTMC_MAP(1, Floor)
  LSTMC_MAP(1, Ceil)
  LSTMC_MAP(1, Trunc)
  LSTMC_MAP(1, Round)
  LSTMC_MAP(1, Rint)
  LSTMC_MAP(1, Sqrt)
  LSTMC_MAP(1, Exp)
  LSTMC_MAP(1, Log)
  LSTMC_MAP(1, Tanh)
  LSTMC_MAP(1, Sigmoid)
#undef LSTMC_MAP
  set(ScalarOp::Uniform, uniformNumbers);
  return table;
}

constexpr FusedTable kTable = makeTable();

void fused(const FusedLaunch &launch, Worker &worker) { runFused(kTable, launch.wire, worker); }

} // namespace

const FusedTable &fusedTable() { return kTable; }

void registerFusedKernel(KernelTable &table) { table.set<fused>(KernelTable::Types::Any); }

} // namespace lstmc::cpu::LSTMC_CPU_NAMESPACE
