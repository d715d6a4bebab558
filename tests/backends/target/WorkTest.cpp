// The work of launches, counted by hand: operations and moved bytes.
#include <gtest/gtest.h>

#include "backends/target/Work.h"
#include "executor/abi/Gate.h"

namespace lstmc::target {
namespace {

/// x, y and the operands that the flags name, as buffers of one type.
package::PackageData withBuffers(DType dtype) {
  package::PackageData data;
  data.buffers.resize(4);
  for (package::Buffer &buffer : data.buffers)
    buffer.dtype = dtype;
  return data;
}

TEST(Work, OfAProductIsCountedByHand) {
  package::PackageData data = withBuffers(DType::F32);
  package::Launch launch;
  launch.kernel = KernelId::Product;
  launch.operands = {{0, 0, {1, 5, 7}, {}},
                     {1, 0, {112}, {}},
                     {package::kNoBuffer, 0, {}, {}},
                     {2, 0, {1, 5, 3}, {}}};
  Work work = workOf(data, launch);
  EXPECT_EQ(work.flops, 2 * 5 * 3 * 7);
  EXPECT_EQ(work.bytes, 4 * (5 * 7 + 112 + 5 * 3));
  data = withBuffers(DType::F64);
  EXPECT_EQ(workOf(data, launch).flops, 2 * 2 * 5 * 3 * 7);
  EXPECT_EQ(workOf(data, launch).bytes, 8 * (5 * 7 + 112 + 5 * 3));
}

TEST(Work, CountsElementsInMemoryOnce) {
  package::PackageData data = withBuffers(DType::F32);
  package::Launch launch;
  launch.kernel = KernelId::Copy;
  launch.operands = {{0, 0, {6, 5}, {0, 1}}, {1, 0, {6, 5}, {}}};
  EXPECT_EQ(workOf(data, launch).flops, 0);
  EXPECT_EQ(workOf(data, launch).bytes, 4 * (5 + 6 * 5));
  // An embedding reads rows: 3 indices of a table of 100.
  launch.kernel = KernelId::Gather;
  launch.operands = {{0, 0, {1, 100, 8}, {}}, {1, 0, {3}, {}}, {2, 0, {1, 3, 8}, {}}};
  EXPECT_EQ(workOf(data, launch).bytes, 4 * (3 * 8 + 3 + 3 * 8));
}

/// Of 3 rows in 8 shards; dw and one use.
package::Launch weightGradient(std::vector<int64_t> dw, std::vector<int64_t> dy,
                               std::vector<int64_t> x) {
  package::Launch launch;
  launch.kernel = KernelId::WeightGradient;
  setArguments(launch, WeightGradientArguments{.range = {3, 8, 0, 8}});
  const package::Operand none{package::kNoBuffer, 0, {}, {}};
  launch.operands = {{0, 0, dw, {}}, none, none, {1, 0, dy, {}}, {2, 0, x, {}}};
  return launch;
}

TEST(Work, OfAnEmbeddingsGradientIsOfRowsWithAnIndex) {
  package::PackageData data = withBuffers(DType::F32);
  package::Launch launch = weightGradient({100, 8}, {1, 1, 3, 8}, {1, 1, 3});
  const int64_t read = 4 * (100 * 8 + 3 * 8 + 3);
  EXPECT_EQ(workOf(data, launch).bytes,
            read + 4 * 2 * 4 * 3 * 8); // stored, and three levels of a tree
  // A product beside it reaches all rows.
  launch.operands.insert(launch.operands.end(),
                         {{1, 0, {1, 1, 3, 100}, {}}, {2, 0, {1, 1, 3, 8}, {}}});
  EXPECT_EQ(workOf(data, launch).bytes, read + 4 * (3 * 100 + 3 * 8) + 4 * 2 * 8 * 100 * 8);
  EXPECT_EQ(workOf(data, launch).rows, 3 + 3 + 8 * 100); // and all that are copied to and fro
  EXPECT_EQ(workOf(data, launch).sums, 0);
}

TEST(Work, OfAWeightGradientKnowsTheShardsSums) {
  const Work work =
      workOf(withBuffers(DType::F32), weightGradient({100, 17}, {1, 1, 3, 100}, {1, 1, 3, 17}));
  EXPECT_EQ(work.width, 17);
  EXPECT_EQ(work.sums, 8);
  EXPECT_EQ(work.sumBytes, 4 * 100 * 17);
}

TEST(Work, CountsRowsWhereAKernelBeginsAnewWithEach) {
  package::PackageData data = withBuffers(DType::F32);
  package::Launch launch;
  launch.kernel = KernelId::Softmax;
  launch.operands = {{0, 0, {6, 5}, {}}, {package::kNoBuffer, 0, {}, {}}, {1, 0, {6, 5}, {}}};
  EXPECT_EQ(workOf(data, launch).rows, 6);
  launch.kernel = KernelId::SoftmaxOutputGradient; // over the second axis
  launch.operands = {{0, 0, {2, 5, 3}, {}},
                     {1, 0, {2, 3}, {}},
                     {package::kNoBuffer, 0, {}, {}},
                     {2, 0, {2, 5, 3}, {}}};
  EXPECT_EQ(workOf(data, launch).rows, 2 * 3);
  launch.kernel = KernelId::Fill;
  EXPECT_EQ(workOf(data, launch).rows, 0);
}

TEST(Work, OfACopyCountsWhatIsDenseOnBothSidesAsOne) {
  package::PackageData data = withBuffers(DType::F32);
  package::Launch launch;
  launch.kernel = KernelId::Copy;
  launch.operands = {{0, 0, {6, 5}, {}}, {1, 0, {6, 5}, {}}};
  EXPECT_EQ(workOf(data, launch).rows, 1);
  launch.operands[0].strides = {8, 1}; // rows of a wider matrix
  EXPECT_EQ(workOf(data, launch).rows, 6);
  launch.operands[0].strides = {1, 6}; // transposed: four rows of a block, and what is beside it
  EXPECT_EQ(workOf(data, launch).rows, 4 + 2 * (30 - 16));
  launch.operands = {{0, 0, {6, 5}, {}}, {1, 0, {6, 5}, {1, 6}}};
  EXPECT_EQ(workOf(data, launch).rows, 4 + 2 * (30 - 16));
  launch.operands = {{0, 0, {9, 3, 5}, {15, 1, 3}}, {1, 0, {9, 3, 5}, {}}}; // no whole block
  EXPECT_EQ(workOf(data, launch).rows, 2 * 9 * 15);
  data = withBuffers(DType::F64);
  EXPECT_EQ(workOf(data, launch).rows, 2 * 9 * 15);
}

TEST(Work, OfRowsWhoseElementsLieApartIsMore) {
  package::PackageData data = withBuffers(DType::F32);
  package::Launch launch;
  launch.kernel = KernelId::BiasGradient;
  launch.operands.resize(3);
  launch.operands[2] = {0, 0, {6, 5}, {}};
  EXPECT_EQ(workOf(data, launch).rows, 6);
  launch.operands[2].strides = {8, 1};
  EXPECT_EQ(workOf(data, launch).rows, 6);
  launch.operands[2].strides = {1, 6};
  EXPECT_EQ(workOf(data, launch).rows, 2 * 6);
  launch.operands[2] = {0, 0, {6, 33}, {1, 6}}; // three vectors
  EXPECT_EQ(workOf(data, launch).rows, 4 * 6);
}

TEST(Work, OfAFusedProgramGrowsWithItsInstructions) {
  package::PackageData data = withBuffers(DType::F32);
  data.programs.resize(1);
  data.programs[0].instructions.resize(3, {ScalarOp::Mul});
  package::Launch launch;
  launch.kernel = KernelId::Fused;
  launch.operands = {{0, 0, {6, 5}, {}}, {1, 0, {6, 5}, {}}};
  setArguments(launch, FusedArguments{.program = 0, .window = {}});
  EXPECT_EQ(workOf(data, launch).flops, 3 * 6 * 5);
  EXPECT_EQ(workOf(data, launch).functions, 0);
  data.programs[0].instructions[1].op = ScalarOp::Tanh;
  EXPECT_EQ(workOf(data, launch).functions, 6 * 5);
}

TEST(Work, OfARecurrenceKnowsWhatEveryStepReadsAgain) {
  package::PackageData data = withBuffers(DType::F32);
  // T=5, B=2, I=3, H=4: gates i, f, g, o.
  package::Launch launch;
  launch.kernel = KernelId::RnnForward;
  setArguments(launch, RnnForwardArguments{.mode = RnnMode::Lstm, .reverse = false, .chunk = 1});
  using Operand = RnnForwardOperand;
  launch.operands.resize(Operand::kFixed);
  launch.operands[Operand::x] = {0, 0, {5, 2, 3}, {}};
  launch.operands[Operand::w] = {1, 0, {48}, {}};
  launch.operands[Operand::r] = {2, 0, {64}, {}};
  launch.operands[Operand::y] = {3, 0, {5, 2, 4}, {}};
  launch.operands[Operand::scratch] = {3, 0, {1000}, {}};
  Work work = workOf(data, launch);
  EXPECT_EQ(work.flops, 2 * 5 * 2 * (4 * 4) * (3 + 4));
  EXPECT_EQ(work.functions, 5 * 2 * 4 * 4);
  EXPECT_EQ(work.steps, 5);
  EXPECT_EQ(work.stepBytes, 4 * 64);
  EXPECT_EQ(work.stepUnits, 4);
  EXPECT_EQ(work.bytes, 4 * (5 * 2 * 3 + 48 + 64 + 5 * 2 * 4));
  // It reads no lengths, so it computes all steps, whatever is real of them.
  EXPECT_EQ(workOf(data, launch, 0.5), work);
  launch.operands[Operand::length] = {3, 0, {2}, {}};
  work = workOf(data, launch, 0.5);
  EXPECT_EQ(work.flops, 5 * 2 * (4 * 4) * (3 + 4));
  EXPECT_EQ(work.functions, 5 * 2 * 4 * 4 / 2);
  EXPECT_EQ(work.steps, 5);
}

TEST(Work, OfTheGradientOfAnInputIsOfAllSteps) {
  package::PackageData data = withBuffers(DType::F32);
  package::Launch launch;
  using Operand = RnnBackwardOperand;
  launch.kernel = KernelId::RnnBackward;
  launch.operands.resize(Operand::kFixed);
  launch.operands[Operand::gates] = {0, 0, {5, 2, 16}, {}};
  launch.operands[Operand::y] = {1, 0, {5, 2, 4}, {}};
  launch.operands[Operand::dx] = {2, 0, {5, 2, 3}, {}};
  launch.operands[Operand::rt] = {3, 0, {64}, {}};
  launch.operands[Operand::length] = {3, 0, {2}, {}};
  setArguments(launch, RnnBackwardArguments{.mode = RnnMode::Lstm, .reverse = false});
  EXPECT_EQ(workOf(data, launch).flops, 2 * 5 * 2 * 16 * (3 + 4));
  EXPECT_EQ(workOf(data, launch, 0.5).flops, 2 * 5 * 2 * 16 * 3 + 5 * 2 * 16 * 4);
}

TEST(Work, FunctionsAreWhatTakesLong) {
  for (ScalarOp op :
       {ScalarOp::Uniform, ScalarOp::Pow, ScalarOp::Exp, ScalarOp::Tanh, ScalarOp::SoftRelu})
    EXPECT_TRUE(isFunction(op)) << kScalarRecords[size_t(op)].name;
  for (ScalarOp op :
       {ScalarOp::Constant, ScalarOp::Fma, ScalarOp::Select, ScalarOp::Sqrt, ScalarOp::Rint})
    EXPECT_FALSE(isFunction(op)) << kScalarRecords[size_t(op)].name;
}

} // namespace
} // namespace lstmc::target
