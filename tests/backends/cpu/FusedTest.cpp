// The tile evaluator against base/ScalarSemantics.h, element by element and bit for bit (all NaNs
// are equal).
#include <functional>

#include <gtest/gtest.h>

#include "backends/cpu/runtime/Fused.h"
#include "executor/abi/FusedProgram.h"
#include "executor/base/ScalarSemantics.h"
#include "tests/backends/cpu/KernelHarness.h"

namespace lstmc::cpu::testing {
namespace {

ScalarValue load(const Tensor &t, int64_t at) {
  int64_t offset = offsetOf(t, at);
  return withWidenedType(t.dtype, [&](auto type) {
    return ScalarValue::of(readElement<decltype(type)>(t.data, t.dtype, offset));
  });
}

void store(const Tensor &t, int64_t at, const ScalarValue &value) {
  withType(t.dtype, [&](auto type) {
    using Stored = decltype(type);
    Stored result;
    if constexpr (std::is_same_v<Stored, Half> || std::is_same_v<Stored, BFloat>)
      result = convert<Stored>(value.as<float>());
    else if constexpr (sizeof(Stored) == 1 && !std::is_same_v<Stored, bool>)
      result = Stored(value.as<int32_t>());
    else
      result = value.as<Stored>();
    t.as<Stored>()[offsetOf(t, at)] = result;
  });
}

void interpret(const FusedProgram &program, const std::vector<Tensor> &operands) {
  FloatMode mode;
  for (int64_t at = 0; at < operands[0].elements(); ++at) {
    std::vector<ScalarValue> values;
    for (const Tensor &t : operands)
      values.push_back(load(t, at));
    for (const FusedInstruction &i : program.instructions)
      values.push_back(
          evaluate(i.op, i.type, values[i.a], values[i.b], values[i.c], i.immediate, uint64_t(at)));
    for (size_t o = 0; o < operands.size(); ++o)
      if (program.writes(o))
        store(operands[o], at, values[size_t(program.results[o])]);
  }
}

bool sameBits(const Block &a, const Block &b) {
  for (int64_t i = 0; i < a.elements(); ++i) {
    size_t width = dtypeBytes(a.dtype);
    if (std::memcmp(&a.bytes[size_t(i) * width], &b.bytes[size_t(i) * width], width) == 0)
      continue;
    double x = a.get<double>(i), y = b.get<double>(i);
    if (isFloat(a.dtype) && x != x && y != y)
      continue;
    ADD_FAILURE() << "element " << i << ": " << x << " against " << y;
    return false;
  }
  return std::memcmp(a.bytes.data() + a.bytes.size() - 64, b.bytes.data() + b.bytes.size() - 64,
                     64) == 0;
}

/// `make` builds the operands from fresh blocks; both sides run on equal copies.
using Views = std::function<std::vector<Tensor>(std::vector<Block> &)>;

void check(const FusedProgram &program, const std::vector<Block> &blocks, const Views &views) {
  std::vector<Block> want = blocks;
  interpret(program, views(want));
  for (Level level : levels())
    for (int workers : {1, 2, 3, 5}) {
      std::vector<Block> got = blocks;
      std::vector<Tensor> operands = views(got);
      const int64_t ints[] = {0};
      LaunchArgs args{operands, ints, {}, &program};
      run(level, KernelId::Fused, args, workers);
      for (size_t i = 0; i < blocks.size(); ++i)
        ASSERT_TRUE(sameBits(want[i], got[i]))
            << kLevelNames[size_t(level)] << ", " << workers << " workers, block " << i;
    }
}

Views dense = [](std::vector<Block> &blocks) {
  std::vector<Tensor> views;
  for (Block &block : blocks)
    views.push_back(block.view());
  return views;
};

constexpr double kAwkward[] = {0.0,  -0.0, 1.0,   -1.0, 0.5,   -0.5,  1.5,   2.5,    -2.5,
                               1e-3, 89.5, -110., 1e30, -1e30, 1e-30, 0.999, -7.25,  16777216.,
                               3e9,  -3e9, 127.,  128., -129., 256.,  300.,  2.2e-38};

Block awkward(DType type, int64_t n, uint32_t seed) {
  Block block(type, {n});
  block.randomise(seed, 5);
  std::mt19937 random(seed + 1);
  for (int64_t i = 0; i < n; i += 3) {
    uint32_t k = random() % 30;
    double x = k < std::size(kAwkward) ? kAwkward[k]
               : k == 26               ? INFINITY
               : k == 27               ? -INFINITY
                                       : NAN;
    if (type == DType::Bool)
      block.set(i, x > 1);
    else
      block.set(i, x);
  }
  return block;
}

TEST(Fused, EveryOperationOnEveryType) {
  constexpr DType kTypes[] = {DType::F32, DType::F64, DType::I32, DType::I64, DType::Bool};
  constexpr int64_t kCount = 1100;
  for (const ScalarRecord &record : kScalarRecords) {
    bool logical = record.op >= ScalarOp::And && record.op <= ScalarOp::Not;
    for (DType type : kTypes) {
      if (record.result == ScalarResult::From)
        continue;
      bool compares = record.result == ScalarResult::Bool || record.op == ScalarOp::Select;
      if ((type == DType::Bool) != logical && !(type == DType::Bool && compares))
        continue;
      SCOPED_TRACE(std::string(record.name) + " on " + std::string(dtypeName(type)));
      FusedProgram program;
      std::vector<Block> blocks;
      for (int k = 0; k < 3; ++k) {
        DType operand = record.op == ScalarOp::Select && k == 0 ? DType::Bool : type;
        blocks.push_back(awkward(operand, kCount, uint32_t(k + 10)));
        program.types.push_back(operand);
      }
      DType result = record.result == ScalarResult::Bool ? DType::Bool : type;
      blocks.push_back(Block(result, {kCount}));
      program.types.push_back(result);
      program.instructions = {{record.op, result, 0, 1, 2, 0}};
      program.results = {-1, -1, -1, 4};
      check(program, blocks, dense);
      if (HasFatalFailure())
        return;
    }
  }
}

TEST(Fused, CastsBetweenAllStoredTypes) {
  for (int from = 0; from < kDTypeCount; ++from)
    for (int to = 0; to < kDTypeCount; ++to) {
      SCOPED_TRACE(std::string(dtypeName(DType(from))) + " to " +
                   std::string(dtypeName(DType(to))));
      FusedProgram program;
      program.types = {DType(from), DType(to)};
      program.instructions = {{ScalarOp::Cast, widenedType(DType(to)), 0, 0, 0, 0}};
      program.results = {-1, 2};
      check(program, {awkward(DType(from), 777, 3), Block(DType(to), {777})}, dense);
      if (HasFatalFailure())
        return;
    }
}

/// w -= lr * m / (sqrt(v) + eps), with the moments, in place: operands w, g, m, v and scalars lr,
/// step.
FusedProgram adam() {
  FusedProgram p;
  p.types = {DType::F32, DType::F32, DType::F32, DType::F32, DType::F64};
  auto &i = p.instructions;
  i.push_back({ScalarOp::Constant, DType::F32, 0, 0, 0, 0.9});   // 5
  i.push_back({ScalarOp::Constant, DType::F32, 0, 0, 0, 0.1});   // 6
  i.push_back({ScalarOp::Mul, DType::F32, 2, 5, 0, 0});          // 7
  i.push_back({ScalarOp::Fma, DType::F32, 1, 6, 7, 0});          // 8 m
  i.push_back({ScalarOp::Mul, DType::F32, 1, 1, 0, 0});          // 9
  i.push_back({ScalarOp::Constant, DType::F32, 0, 0, 0, 0.999}); // 10
  i.push_back({ScalarOp::Constant, DType::F32, 0, 0, 0, 0.001}); // 11
  i.push_back({ScalarOp::Mul, DType::F32, 3, 10, 0, 0});         // 12
  i.push_back({ScalarOp::Fma, DType::F32, 9, 11, 12, 0});        // 13 v
  i.push_back({ScalarOp::Sqrt, DType::F32, 13, 0, 0, 0});        // 14
  i.push_back({ScalarOp::Constant, DType::F32, 0, 0, 0, 1e-8});  // 15
  i.push_back({ScalarOp::Add, DType::F32, 14, 15, 0, 0});        // 16
  i.push_back({ScalarOp::Div, DType::F32, 8, 16, 0, 0});         // 17
  i.push_back({ScalarOp::Cast, DType::F32, 4, 0, 0, 0});         // 18 lr
  i.push_back({ScalarOp::Mul, DType::F32, 17, 18, 0, 0});        // 19
  i.push_back({ScalarOp::Sub, DType::F32, 0, 19, 0, 0});         // 20
  p.results = {20, -1, 8, 13, -1};
  return p;
}

TEST(Fused, UpdatesInPlace) {
  for (int64_t n : {1, 15, 16, 17, 1000, 5000}) {
    std::vector<Block> blocks;
    for (uint32_t k = 0; k < 4; ++k)
      blocks.push_back(Block(DType::F32, {n}).randomise(k));
    for (int64_t i = 0; i < n; ++i)
      blocks[3].set(i, std::fabs(blocks[3].get<float>(i)));
    blocks.push_back(Block(DType::F64, {1}));
    blocks[4].set(0, 0.01);
    check(adam(), blocks, [](std::vector<Block> &b) {
      std::vector<Tensor> views = dense(b);
      views[4] = broadcast(views[4], 0, b[0].shape[0]);
      return views;
    });
  }
}

TEST(Fused, SwapsTwoOperands) {
  FusedProgram program;
  program.types = {DType::F32, DType::F32};
  program.results = {1, 0};
  check(program, {Block(DType::F32, {3000}).randomise(1), Block(DType::F32, {3000}).randomise(2)},
        dense);
}

TEST(Fused, AnOutputThatIsAnInputIsReadFirst) {
  // y = x + 1, z = x * y with y in the place of x: x must not be read again from memory
  FusedProgram program;
  program.types = {DType::F32, DType::F32, DType::F32};
  program.instructions = {{ScalarOp::Constant, DType::F32, 0, 0, 0, 1},
                          {ScalarOp::Add, DType::F32, 0, 3, 0, 0},
                          {ScalarOp::Mul, DType::F32, 0, 4, 0, 0}};
  program.results = {-1, 4, 5};
  std::vector<Block> blocks = {Block(DType::F32, {2500}).randomise(1), Block(DType::F32, {2500})};
  check(program, blocks, [](std::vector<Block> &b) {
    return std::vector<Tensor>{b[0].view(), b[0].view(), b[1].view()};
  });
}

TEST(Fused, Strides) {
  FusedProgram program; // out = a * b + c, with different layouts
  program.types = {DType::F32, DType::F32, DType::F16, DType::F32, DType::I8};
  program.instructions = {{ScalarOp::Fma, DType::F32, 0, 1, 2, 0},
                          {ScalarOp::Cast, DType::I32, 5, 0, 0, 0}};
  program.results = {-1, -1, -1, 5, 6};
  for (std::vector<int64_t> shape :
       {std::vector<int64_t>{4, 5, 65}, {3, 7, 300}, {1, 1, 1}, {130, 2, 3}, {2, 3, 1500}}) {
    auto [p, q, r] = std::tuple(shape[0], shape[1], shape[2]);
    std::vector<Block> blocks = {Block(DType::F32, shape).randomise(1),
                                 Block(DType::F32, {1, q, 1}).randomise(2),
                                 Block(DType::F16, {r, q, p}).randomise(3),
                                 Block(DType::F32, {q, p, r}), Block(DType::I8, shape)};
    check(program, blocks, [&](std::vector<Block> &b) {
      std::vector<Tensor> v = dense(b);
      v[0] = reversed(v[0], 1);
      v[1] = broadcast(broadcast(v[1], 0, p), 2, r);
      v[2] = reversed(transposed(v[2], 0, 2), 2);
      v[3] = transposed(v[3], 0, 1);
      return v;
    });
    check(program, blocks, [&](std::vector<Block> &b) { // row of one operand, everything transposed
      std::vector<Tensor> v = dense(b);
      Tensor row = v[0];
      row.strides[0] = row.strides[1] = 0;
      v[0] = row;
      v[1] = broadcast(broadcast(v[1], 0, p), 2, r);
      v[2] = transposed(v[2], 0, 2);
      v[3] = transposed(v[3], 0, 1);
      for (Tensor &t : v)
        t = transposed(t, 0, 2);
      return v;
    });
  }
}

TEST(Fused, RandomNumbers) {
  FusedProgram program;
  program.types = {DType::I64, DType::I64, DType::F32};
  program.instructions = {{ScalarOp::Uniform, DType::F32, 0, 1, 0, 7}};
  program.results = {-1, -1, 3};
  for (auto [rows, columns] : {std::pair<int64_t, int64_t>{1, 1}, {3, 5}, {7, 301}, {2, 4099}}) {
    std::vector<Block> blocks = {Block(DType::I64, {1, 1}), Block(DType::I64, {1, 1}),
                                 Block(DType::F32, {columns, rows})};
    blocks[0].set(0, int64_t(0x123456789abcdef));
    blocks[1].set(0, int64_t(42));
    check(program, blocks, [&](std::vector<Block> &b) {
      std::vector<Tensor> v = dense(b);
      for (int k = 0; k < 2; ++k)
        v[size_t(k)] = broadcast(broadcast(v[size_t(k)], 0, rows), 1, columns);
      v[2] = transposed(v[2], 0, 1); // row-major in the space, not in memory
      return v;
    });
  }
}

TEST(Fused, LongProgramsWithManyValuesAlive) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    FusedProgram program;
    std::vector<Block> blocks;
    int operands = 2 + int(random() % 12);
    constexpr DType kStored[] = {DType::F32, DType::F32, DType::F32, DType::BF16};
    for (int o = 0; o < operands; ++o) {
      DType type = kStored[random() % 4];
      program.types.push_back(type);
      blocks.push_back(Block(type, {3, 411}).randomise(random()));
      program.results.push_back(-1);
    }
    constexpr ScalarOp kOps[] = {ScalarOp::Add, ScalarOp::Sub,  ScalarOp::Mul,     ScalarOp::Max,
                                 ScalarOp::Fma, ScalarOp::Tanh, ScalarOp::Sigmoid, ScalarOp::Neg};
    int length = 5 + int(random() % 200);
    for (int i = 0; i < length; ++i) {
      auto any = [&] {
        uint32_t back = random() % (random() % 4 ? 6u : 60u);
        int v = operands + i - 1 - int(back);
        return uint16_t(v < 0 ? int(random() % uint32_t(operands)) : v);
      };
      program.instructions.push_back({kOps[random() % 8], DType::F32, any(), any(), any(), 0});
    }
    for (int o = 0; o < operands; ++o)
      if (o == 0 || random() % 3 == 0)
        program.results[size_t(o)] = int(random() % uint32_t(operands + length));
    check(program, blocks, [&](std::vector<Block> &b) {
      std::vector<Tensor> v = dense(b);
      for (size_t k = 1; k < v.size(); ++k)
        if (program.results[k] < 0 && k % 3 == 0)
          v[k].strides[k % 2] = 0;
      return v;
    });
    if (HasFatalFailure())
      return;
  }
}

TEST(Fused, EnginesRunWhatTheKernelRuns) {
  FusedProgram program = adam();
  std::vector<Block> blocks;
  for (uint32_t k = 0; k < 5; ++k)
    blocks.push_back(Block(k < 4 ? DType::F32 : DType::F64, {100}).randomise(k));
  std::vector<Block> want = blocks;
  std::vector<Tensor> views = dense(want);
  const int64_t ints[] = {0};
  run(Level::Scalar, KernelId::Fused, {views, ints, {}, &program}, 1);
  for (Level level : levels()) {
    FloatMode mode;
    std::vector<Block> got = blocks;
    views = dense(got);
    FusedCode code = tileEngine(level).prepare(program);
    OneOf worker;
    const TeamMemory memory(1);
    const WithWorkerMemory use(memory);
    code.run(code.context, {views, ints, {}, &program}, worker);
    for (size_t i = 0; i < blocks.size(); ++i)
      EXPECT_TRUE(sameBits(want[i], got[i]));
  }
}

} // namespace
} // namespace lstmc::cpu::testing
