// The kernels besides the recurrence against the reference, bit for bit, with shapes that reach
// every path: several tiles, blocks and shards, tails, threads that wait at barriers.
#include <gtest/gtest.h>

#include <functional>

#include "executor/abi/Kernels.h"
#include "executor/device/ThreadTeam.h"
#include "executor/reference/Reference.h"
#include "tests/backends/cpu/KernelHarness.h"

namespace lstmc::cpu::testing {
namespace {

using Views = std::function<std::vector<Tensor>(std::vector<Block> &)>;

struct Launch {
  KernelId id;
  std::vector<Block> blocks;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  Views views = [](std::vector<Block> &blocks) {
    std::vector<Tensor> all;
    for (Block &block : blocks)
      all.push_back(block.view());
    return all;
  };
};

void check(Launch launch) {
  std::vector<Block> want = launch.blocks;
  std::vector<Tensor> operands = launch.views(want);
  {
    FloatMode mode;
    OneOf worker;
    reference::kernel(launch.id)({operands, launch.ints, launch.floats, nullptr}, worker);
  }
  for (Level level : levels())
    for (int threads : {1, 3}) {
      std::vector<Block> got = launch.blocks;
      operands = launch.views(got);
      KernelFunction function = kernelTable(level).own(launch.id);
      ASSERT_NE(function, nullptr);
      LaunchArgs args{operands, launch.ints, launch.floats, nullptr};
      ThreadTeam team(threads);
      team.run([&](Worker &worker) { function(args, worker); });
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_EQ(got[i].bytes, want[i].bytes)
            << kernelRecord(launch.id).name << " " << kLevelNames[size_t(level)] << ", " << threads
            << " threads, operand " << i;
    }
}

Block f32(std::vector<int64_t> shape, uint32_t seed = 1) {
  return Block(DType::F32, std::move(shape)).randomise(seed);
}
Block classes(DType type, std::vector<int64_t> shape, int64_t count) {
  Block block(type, std::move(shape));
  for (int64_t i = 0; i < block.elements(); ++i)
    block.set(i, double(i * 7 % count - 1));
  return block;
}

TEST(Reduce, RowsColumnsAndNeither) {
  for (int kind = 0; kind <= int(ReduceKind::ArgMax); ++kind)
    for (int64_t columns : {1, 15, 70, 300})
      for (int64_t rows : {1, 17, 50}) {
        // along rows; over rows (many columns at a time); and over a stride that is neither
        check({KernelId::Reduce, {f32({rows, columns}), f32({rows})}, {kind, 1}, {}});
        check({KernelId::Reduce,
               {f32({rows, columns}), f32({columns})},
               {kind, 1},
               {},
               [](std::vector<Block> &b) {
                 return std::vector<Tensor>{transposed(b[0].view(), 0, 1), b[1].view()};
               }});
        check({KernelId::Reduce,
               {f32({3, rows, columns}), f32({rows})},
               {kind, 1},
               {},
               [](std::vector<Block> &b) {
                 return std::vector<Tensor>{reversed(transposed(b[0].view(), 0, 1), 2),
                                            b[1].view()};
               }});
        if (HasFatalFailure())
          return;
      }
}

TEST(Softmax, WholeAndShortRows) {
  for (int64_t log : {0, 1})
    for (double temperature : {1.0, 0.7})
      for (int64_t columns : {1, 16, 65, 200}) {
        Block lengths(DType::F32, {7});
        for (int64_t r = 0; r < 7; ++r)
          lengths.set(r, double(r * 40 - 20) + 0.5);
        for (bool shortened : {false, true})
          check({KernelId::Softmax,
                 {f32({7, columns}), lengths, f32({7, columns})},
                 {log},
                 {temperature},
                 [=](std::vector<Block> &b) {
                   std::vector<Tensor> v = {b[0].view(), b[1].view(), b[2].view()};
                   if (!shortened)
                     v[1] = {};
                   return v;
                 }});
        check({KernelId::SoftmaxGradient,
               {f32({7, columns}), f32({7, columns}, 2), lengths, f32({7, columns})},
               {log},
               {temperature}});
        if (HasFatalFailure())
          return;
      }
}

TEST(Softmax, InPlaceAndByColumns) {
  check({KernelId::Softmax, {f32({33, 65})}, {0}, {1}, [](std::vector<Block> &b) {
           return std::vector<Tensor>{b[0].view(), {}, b[0].view()};
         }});
  check({KernelId::Softmax, {f32({33, 65}), f32({33, 65})}, {1}, {1}, [](std::vector<Block> &b) {
           return std::vector<Tensor>{
               transposed(b[0].view(), 0, 1), {}, transposed(b[1].view(), 0, 1)};
         }});
}

TEST(SoftmaxOutput, GradientOfEveryForm) {
  for (int64_t width : {1, 5, 150})
    for (int64_t ignore : {0, 1})
      for (int64_t normalization : {0, 1, 2})
        for (int64_t multi : {0, 1})
          for (double alpha : {0.0, 0.1}) {
            Launch launch{KernelId::SoftmaxOutputGradient,
                          {f32({9, 33, width}), classes(DType::F32, {9, width}, 36),
                           f32({9, 33, width}), Block(DType::F64, {1})},
                          {ignore, normalization, multi},
                          {-1, 0.5, alpha}};
            launch.views = [](std::vector<Block> &b) {
              return std::vector<Tensor>{b[0].view(), b[1].view(), {}, b[2].view()};
            };
            check(launch);
            launch.views = [](std::vector<Block> &b) { // divided by the count of the whole batch
              b[3].set(0, 1000);
              return std::vector<Tensor>{b[0].view(), b[1].view(), b[3].view(), b[2].view()};
            };
            if (normalization != 0)
              check(launch);
            launch.views = [](std::vector<Block> &b) { // dx is p itself
              return std::vector<Tensor>{b[0].view(), b[1].view(), {}, b[0].view()};
            };
            check(launch);
            launch.blocks[1] = f32({9, 33, width}, 5);
            check(launch); // labels are probabilities
            if (HasFatalFailure())
              return;
          }
}

TEST(Losses, CrossEntropyAndMetrics) {
  check({KernelId::SoftmaxCrossEntropy,
         {f32({70, 65}), classes(DType::I32, {70}, 67), f32({1})},
         {},
         {}});
  for (int64_t fields : {kMetricFields, kEvaluationFields})
    for (int64_t shards : {1, 8, 300, 2000}) {
      check(
          {KernelId::SoftmaxMetric,
           {f32({5, 13, 2, 20}), classes(DType::F32, {5, 13, 2}, 22), Block(DType::F64, {fields})},
           {13, shards, 0, shards, 1, 0},
           {-1, 0, 1}});
      for (int64_t loss : {0, 1, 2})
        check({KernelId::RegressionMetric,
               {f32({5, 13, 7}), f32({5, 13, 7}, 2), Block(DType::F64, {fields})},
               {13, shards, 0, shards, loss},
               {0.5}});
      check({KernelId::LossMetric,
             {f32({5, 13, 7}), Block(DType::F64, {fields})},
             {13, shards, 0, shards, 1},
             {0.1, 0.5}});
    }
}

TEST(Norms, LayersAndGradients) {
  for (int64_t columns : {1, 16, 100}) {
    check({KernelId::LayerNorm,
           {f32({11, columns}), f32({columns}, 2), f32({columns}, 3), f32({11, columns}), f32({11}),
            f32({11})},
           {},
           {1e-5}});
    check({KernelId::LayerNormGradient,
           {f32({11, columns}), f32({columns}, 2), f32({11}, 3), f32({11}, 4),
            f32({11, columns}, 5), f32({11, columns}), f32({11, columns})},
           {},
           {}});
  }
  check({KernelId::NormSquared,
         {Block(DType::F64, {1}), Block(DType::F64, {1}).randomise(3), f32({3}),
          f32({4096 * 3 + 17}), f32({100, 70}), Block(DType::F64, {9}).randomise(4)},
         {},
         {},
         [](std::vector<Block> &b) {
           return std::vector<Tensor>{
               b[0].view(), b[1].view(), b[2].view(), b[3].view(), transposed(b[4].view(), 0, 1),
               b[5].view()};
         }});
}

TEST(Movement, CopiesAndRows) {
  for (DType type : {DType::F32, DType::F64, DType::F16, DType::U8}) {
    Block x = Block(type, {67, 3, 45}).randomise(1);
    check({KernelId::Copy, {x, Block(type, {45, 3, 67})}, {}, {}, [](std::vector<Block> &b) {
             return std::vector<Tensor>{transposed(b[0].view(), 0, 2), b[1].view()};
           }});
    check({KernelId::Copy, {x, Block(type, {3, 67, 45})}, {}, {}, [](std::vector<Block> &b) {
             return std::vector<Tensor>{reversed(transposed(b[0].view(), 0, 1), 0), b[1].view()};
           }});
    check({KernelId::Copy, {Block(type, {30011}).randomise(2), Block(type, {30011})}, {}, {}});
    check({KernelId::Copy,
           {Block(type, {4, 1}).randomise(2), Block(type, {4, 900})},
           {},
           {},
           [](std::vector<Block> &b) {
             return std::vector<Tensor>{broadcast(b[0].view(), 1, 900), b[1].view()};
           }});
    check({KernelId::Gather,
           {Block(type, {2, 9, 33}).randomise(1), classes(DType::F32, {4, 5}, 12),
            Block(type, {2, 20, 33})},
           {1},
           {}});
  }
}

/// Under a stop, the last operand is not what the launch makes when it runs to its end.
void expectLeft(const Launch &launch) {
  for (Level level : levels())
    for (int threads : {1, 3}) {
      ThreadTeam team(threads);
      std::vector<uint8_t> made[2];
      for (bool stopped : {false, true}) {
        std::vector<Block> blocks = launch.blocks;
        std::vector<Tensor> operands = launch.views(blocks);
        LaunchArgs args{operands, launch.ints, launch.floats, nullptr};
        team.stop(stopped);
        team.run([&](Worker &worker) { kernelTable(level).own(launch.id)(args, worker); });
        const auto &bytes = blocks.back().bytes;
        made[stopped].assign(reinterpret_cast<const uint8_t *>(bytes.data()),
                             reinterpret_cast<const uint8_t *>(bytes.data() + bytes.size()));
      }
      EXPECT_TRUE(made[0] != made[1])
          << kernelRecord(launch.id).name << " " << kLevelNames[size_t(level)] << ", " << threads
          << " threads";
    }
}

TEST(Stop, IsLookedAtBetweenRows) {
  const Block wide = f32({9000, 3}), many = classes(DType::F32, {9000}, 3);
  auto without = [](size_t operand) { // the absent one is a block all the same
    return [operand](std::vector<Block> &blocks) {
      std::vector<Tensor> all;
      for (Block &block : blocks)
        all.push_back(block.view());
      all[operand] = {};
      return all;
    };
  };
  expectLeft({KernelId::Softmax, {wide, many, wide}, {0}, {1}, without(1)});
  expectLeft({KernelId::SoftmaxGradient, {wide, f32({9000, 3}, 2), many, wide}, {0}, {1}});
  expectLeft({KernelId::SoftmaxOutputGradient,
              {f32({9000, 3, 1}), classes(DType::F32, {9000, 1}, 3), many, f32({9000, 3, 1}, 7)},
              {0, 0, 0},
              {-1, 1, 0},
              without(2)});
  expectLeft({KernelId::SoftmaxCrossEntropy, {wide, many, f32({1})}, {}, {}});
  expectLeft({KernelId::Reduce, {wide, f32({9000})}, {int(ReduceKind::Sum), 1}, {}});
  expectLeft({KernelId::Reduce, {wide, f32({9000})}, {int(ReduceKind::ArgMax), 1}, {}});
  expectLeft({KernelId::Reduce,
              {f32({3, 9000}), f32({9000})},
              {int(ReduceKind::Max), 1},
              {},
              [](std::vector<Block> &b) {
                return std::vector<Tensor>{transposed(b[0].view(), 0, 1), b[1].view()};
              }});
  expectLeft({KernelId::LayerNormGradient,
              {wide, f32({3}, 2), f32({9000}, 3), f32({9000}, 4), f32({9000, 3}, 5), f32({9000, 3}),
               f32({9000, 3})},
              {},
              {}});
  expectLeft({KernelId::SoftmaxMetric,
              {f32({1, 9000, 1, 3}), classes(DType::F32, {1, 9000, 1}, 3),
               Block(DType::F64, {int64_t(kMetricFields)})},
              {9000, 8, 0, 8, 0, 0},
              {-1, 0, 1}});
  expectLeft({KernelId::LossMetric,
              {f32({1, 9000, 1}), Block(DType::F64, {int64_t(kMetricFields)})},
              {9000, 8, 0, 8, 0},
              {0, 1}});
  expectLeft({KernelId::Copy, {f32({9000, 70}), f32({9000, 70}, 2)}, {}, {}});
  expectLeft(
      {KernelId::Copy, {f32({70, 9000}), f32({9000, 70}, 2)}, {}, {}, [](std::vector<Block> &b) {
         return std::vector<Tensor>{transposed(b[0].view(), 0, 1), b[1].view()};
       }});
  expectLeft({KernelId::Gather, {f32({1, 9, 33}), many, f32({1, 9000, 33}, 2)}, {0}, {}});
  expectLeft({KernelId::OneHot, {many, f32({9000, 3})}, {}, {1, 0}});
  expectLeft({KernelId::SequenceReverse,
              {f32({300, 30, 2}), classes(DType::F32, {30}, 200), f32({300, 30, 2}, 2)},
              {},
              {}});
}

} // namespace
} // namespace lstmc::cpu::testing
