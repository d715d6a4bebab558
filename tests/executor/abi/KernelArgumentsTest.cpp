// Positions, structs and records are made from the same rows of Kernels.def.
#include "executor/abi/KernelArguments.h"

#include <gtest/gtest.h>

#include "executor/abi/Scratch.h"
#include "executor/base/SafeSize.h"

namespace lstmc {
namespace {

struct Counts {
  KernelId id;
  size_t operands, ints, floats;
};

constexpr Counts kCounts[] = {
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING)                                    \
  {KernelId::ID, ID##Operand::kFixed, ID##Int::kFixed, ID##Float::kFixed},
#define LSTMC_TRANSFER LSTMC_KERNEL
#include "executor/abi/Kernels.def"
};

TEST(KernelArguments, PositionsAreThoseOfTheRecord) {
  for (const Counts &counts : kCounts) {
    const KernelRecord &record = kernelRecord(counts.id);
    EXPECT_EQ(record.operands.size(), counts.operands) << record.name;
    EXPECT_EQ(record.ints.size(), counts.ints) << record.name;
    EXPECT_EQ(record.floats.size(), counts.floats) << record.name;
  }
  const KernelRecord &backward = kernelRecord(KernelId::RnnBackward);
  EXPECT_EQ(backward.operand("dgates"), int(RnnBackwardOperand::dgates));
  EXPECT_EQ(backward.integer("chunk"), int(RnnBackwardInt::chunk));
  EXPECT_EQ(kernelRecord(KernelId::SoftmaxMetric).integer("useIgnore"),
            int(SoftmaxMetricInt::useIgnore));
  EXPECT_EQ(kernelRecord(KernelId::OneHot).floating("off"), int(OneHotFloat::off));
}

TEST(KernelArguments, RecordsSayWhatRowsSay) {
  const KernelRecord &backward = kernelRecord(KernelId::RnnBackward);
  const OperandRecord &dgates = backward.operands[RnnBackwardOperand::dgates];
  EXPECT_EQ(dgates.mode, OperandMode::Out);
  EXPECT_FALSE(dgates.optional);
  EXPECT_EQ(dgates.itself, int(RnnBackwardOperand::gates));
  EXPECT_TRUE(backward.operands[RnnBackwardOperand::cells].optional);
  EXPECT_EQ(backward.operands[RnnBackwardOperand::cells].itself, -1);

  const KernelRecord &weight = kernelRecord(KernelId::WeightGradient);
  ASSERT_EQ(weight.repeated.size(), 2u);
  EXPECT_EQ(weight.repeated[1].name, "x");
  EXPECT_EQ(weight.repeated[1].mode, OperandMode::In);
  EXPECT_EQ(weight.ints, (std::vector<std::string_view>{"batch", "shards", "first", "count"}));

  const KernelRecord &fused = kernelRecord(KernelId::Fused);
  EXPECT_EQ(fused.repeated[0].mode, OperandMode::InOut);
  EXPECT_EQ(fused.intList, "window");
  EXPECT_TRUE(fused.takesInts(1) && fused.takesInts(4) && !fused.takesInts(0));
  EXPECT_TRUE(weight.takesInts(4) && !weight.takesInts(5));
}

/// The lists of a launch in which every number occurs once, as far as its type can hold it.
template <typename Arguments> WireArguments numbered() {
  Arguments arguments{};
  int64_t next = 3;
  forEachInt(arguments, [&](auto &field) {
    using Field = std::remove_reference_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, bool>)
      field = ++next % 2 == 0;
    else if constexpr (std::is_enum_v<Field>)
      field = kLast<Field>;
    else if constexpr (std::is_same_v<Field, int64_t>)
      field = ++next;
  });
  forEachFloat(arguments, [&](double &field) { field = double(++next) / 8; });
  return wireArguments(arguments);
}

template <typename Arguments> void expectRoundTrip() {
  const KernelRecord &record = kernelRecord(Arguments::kKernel);
  const WireArguments wire = numbered<Arguments>();
  EXPECT_TRUE(record.takesInts(wire.ints.size())) << record.name;
  EXPECT_EQ(wire.floats.size(), record.floats.size()) << record.name;
  const WireArguments again = wireArguments(argumentsOf<Arguments>(wire));
  EXPECT_EQ(again.ints, wire.ints) << record.name;
  EXPECT_EQ(again.floats, wire.floats) << record.name;
}

TEST(KernelArguments, ComeBackFromTheListsOfAPackage) {
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING) expectRoundTrip<ID##Arguments>();
#define LSTMC_TRANSFER LSTMC_KERNEL
#include "executor/abi/Kernels.def"
}

TEST(KernelArguments, HaveTheOrderOfTheirRow) {
  const std::vector<int64_t> window = {7, 3, 2};
  EXPECT_EQ(wireArguments(FusedArguments{.program = 5, .window = window}).ints,
            (std::vector<int64_t>{5, 7, 3, 2}));
  const WireArguments output =
      wireArguments(SoftmaxOutputGradientArguments{.useIgnore = true,
                                                   .normalization = SoftmaxNormalization::Valid,
                                                   .multi = false,
                                                   .ignoreLabel = -1,
                                                   .gradScale = 0.5,
                                                   .smoothAlpha = 0.25});
  EXPECT_EQ(output.ints, (std::vector<int64_t>{1, 2, 0}));
  EXPECT_EQ(output.floats, (std::vector<double>{-1, 0.5, 0.25}));
  const WireArguments metric = wireArguments(SoftmaxMetricArguments{.range = {20, 8, 4, 2},
                                                                    .useIgnore = true,
                                                                    .valid = false,
                                                                    .ignoreLabel = 3,
                                                                    .smoothAlpha = 0.25,
                                                                    .scale = 0.5});
  EXPECT_EQ(metric.ints, (std::vector<int64_t>{20, 8, 4, 2, 1, 0}));
  EXPECT_EQ(metric.floats, (std::vector<double>{3, 0.25, 0.5}));
}

// The check of packages computes sizes in SafeSize, others in int64_t.
TEST(Scratch, IsTheSameInBothTypes) {
  const RnnForwardArguments forward{.mode = RnnMode::Lstm, .reverse = false, .chunk = 5};
  // B = 3, H = 20: Hpad = 32, a state 96, a chunk's gates 5 * 4 * 96.
  const auto parts = scratchOf<int64_t>(forward, 3, 20, 4, true);
  EXPECT_EQ(parts.h, 5 * 4 * 96);
  EXPECT_EQ(parts.sweeps, 5 * 4 * 96 + 3 * 96);
  EXPECT_EQ(parts.bytes, parts.sweeps * 4 + 4096);
  EXPECT_EQ(scratchOf<SafeSize>(forward, 3, 20, 4, true).bytes.value(), uint64_t(parts.bytes));

  RnnForwardArguments single = forward;
  single.chunk = 1;
  EXPECT_EQ(scratchOf<int64_t>(single, 3, 20, 4, true).h, 4 * 96);
  EXPECT_EQ(scratchOf<int64_t>(single, 3, 20, 4, false).h, 2 * 4 * 96); // W x and R h of a step
  EXPECT_EQ(scratchOf<int64_t>(forward, 3, 20, 4, false).h, parts.h);

  RnnForwardArguments endless = forward;
  endless.chunk = int64_t(1) << 60;
  EXPECT_FALSE(scratchOf<SafeSize>(endless, 3, 20, 4, true).bytes.value());

  InitialiseArguments initialise{
      .kind = InitKind::Orthogonal, .ordinal = 0, .variant = {}, .a = 1, .b = 0};
  EXPECT_GT(scratchOf<int64_t>(initialise, 8, 4, 4).bytes, 0);
  initialise.kind = InitKind::Normal;
  EXPECT_EQ(scratchOf<int64_t>(initialise, 8, 4, 4).bytes, 0);
}

} // namespace
} // namespace lstmc
