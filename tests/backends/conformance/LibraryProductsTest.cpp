// Products by cuBLASLt's table, on an emulated GPU: near to the exact ones, repeated to the bit, by
// an algorithm that is chosen once and kept.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "backends/conformance/Conformance.h"
#include "backends/conformance/RecurrenceLaunch.h"
#include "backends/cuda/emulated/EmulatedCublasLt.h"
#include "backends/cuda/model/LibraryScratch.h"
#include "tests/backends/conformance/GpuCards.h"
#include "tests/backends/conformance/Magnitudes.h"
#include "tests/backends/conformance/StepBound.h"
#include "tests/executor/data/Files.h"

namespace lstmc::conformance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr FastRules kRule = {.cublasLt = true};
constexpr RoundedTo kRoundedTo[] = {RoundedTo::F32, RoundedTo::Tf32, RoundedTo::Bf16,
                                    RoundedTo::Fp16};

std::unique_ptr<Device> cardWith(int number, Result<const cuda::CublasLt *> (*library)(),
                                 std::optional<int> cluster = std::nullopt) {
  return std::move(*cuda::makeGpuDevice("emu:" + std::to_string(number), cuda::emulatedDriver(),
                                        {.card = number,
                                         .images = cuda::emulatedImages(),
                                         .onHost = hostKernel,
                                         .cublasLt = library,
                                         .way = cluster}));
}

/// As libraryScratchBytes, with a workspace that suffices for most of the products here, but not
/// for all of them.
int64_t roomFor(int64_t matrices, int64_t columns, int64_t depth) {
  constexpr int64_t kWorkspace = 1 << 14;
  return cuda::libraryScratchBytes(matrices, columns, depth) - cuda::kLibraryWorkspace + kWorkspace;
}

Array bytes(int64_t count) { return Array(DType::U8, {count}); }

/// A product as the compiler makes it under the rule.
TestLaunch withScratch(const TestLaunch &launch) {
  TestLaunch copy = launch.clone();
  const Tensor &x = copy.operands[ProductOperand::x].tensor,
               &y = copy.operands[ProductOperand::y].tensor;
  copy.operands.push_back(bytes(roomFor(y.shape[0], y.shape[2], std::max<int64_t>(x.shape[2], 1))));
  return copy;
}

/// Of a device of its own, whose cache is empty.
struct Card {
  test::TemporaryFolder cache;
  std::unique_ptr<Device> device;

  explicit Card(Result<const cuda::CublasLt *> (*library)() = cuda::emulatedCublasLt,
                std::optional<int> cluster = std::nullopt) {
    setenv("LSTMC_CACHE_DIR", cache.path().c_str(), 1);
    device = cardWith(30, library, cluster);
  }
  TestLaunch run(const TestLaunch &launch, FastRules rules = kRule) const {
    return runFast(*device, launch, rules);
  }
};

void expectNear(FastRules rules) {
  const Card card;
  int64_t compared = 0, changed = 0;
  for (const Case &test : casesOf(KernelId::Product)) {
    const TestLaunch launch = test.make();
    const TestLaunch fast = withScratch(launch);
    const std::vector<double> found = resultOf(card.run(fast, rules)), exact = exactly(launch);
    if (TestLaunch named = launch; named["y"].tensor.dtype != DType::F32) {
      EXPECT_EQ(found, exact) << test.name; // f64 stays exact
      continue;
    }
    const std::vector<double> again = resultOf(card.run(fast, rules)), sums = magnitudesOf(launch);
    const auto terms = double(launch.operands[ProductOperand::x].tensor.shape[2]);
    for (size_t i = 0; i < exact.size(); ++i) {
      EXPECT_TRUE(found[i] == again[i] || (std::isnan(found[i]) && std::isnan(again[i])));
      if (!(sums[i] < 1e30)) // no number, perhaps
        continue;
      ASSERT_NEAR(found[i], exact[i], boundOf(sums[i], terms, rules)) << test.name;
      ++compared;
      changed += found[i] != exact[i];
    }
  }
  EXPECT_GT(compared, 1'000);
  EXPECT_GT(changed, compared / 10); // else no library was used
}

TEST(LibraryProducts, AreNearToTheExactOnesAndRepeatedToTheBit) {
  for (RoundedTo roundedTo : kRoundedTo) {
    SCOPED_TRACE(int(roundedTo));
    expectNear({.roundedTo = roundedTo, .cublasLt = true});
  }
}

TEST(LibraryProducts, AreExactWithoutRoomForTheWeights) {
  const Card card;
  for (const Case &test : casesOf(KernelId::Product)) {
    const TestLaunch launch = test.make();
    TestLaunch expected = launch.clone(), small = launch.clone();
    expected.run(reference::kernel(KernelId::Product));
    expected.operands.push_back(bytes(8));
    small.operands.push_back(bytes(8));
    EXPECT_EQ(card.run(small).difference(expected), "") << test.name;
    EXPECT_EQ(resultOf(card.run(launch)).size(), resultOf(launch).size()); // and with no scratch
  }
}

TestLaunch oneProduct(int64_t rows = 5, int64_t columns = 7, int64_t depth = 9) {
  const Array x(DType::F32, {1, rows, depth}, uniform(-1, 1)),
      w(DType::F32, {1, columns, depth}, uniform(-1, 1, 1));
  TestLaunch launch(KernelId::Product);
  launch.operands = {x, packed(w, 0), Array(), Array(DType::F32, {1, rows, columns})};
  return withScratch(launch);
}

TEST(LibraryProducts, HaveAnAlgorithmThatIsToldOnceAndKept) {
  const Card card;
  EXPECT_THAT(card.device->choices(), ElementsAre());
  const std::vector<double> found = resultOf(card.run(oneProduct()));
  const std::string chosen = "cuBLASLt 13.0.2: a product of 5 x 7 x 9 by algorithm 2, 140 bytes of "
                             "workspace";
  EXPECT_THAT(card.device->choices(), ElementsAre(chosen));
  EXPECT_EQ(resultOf(card.run(oneProduct())), found);
  EXPECT_THAT(card.device->choices(), ElementsAre());
  card.run(oneProduct(6));
  EXPECT_THAT(card.device->choices(), ElementsAre(HasSubstr("6 x 7 x 9")));

  // Another device finds it in the cache. What the library does not take is replaced.
  const auto chosenByAnother = [&] {
    const auto other = cardWith(31, cuda::emulatedCublasLt);
    EXPECT_EQ(resultOf(runFast(*other, oneProduct(), kRule)), found);
    return other->choices();
  };
  EXPECT_THAT(chosenByAnother(), ElementsAre(chosen + ", as before"));
  for (const auto &file : std::filesystem::recursive_directory_iterator(card.cache.path()))
    if (file.path().extension() == ".algorithm")
      test::writeText(file.path(), "no algorithm");
  EXPECT_THAT(chosenByAnother(), ElementsAre(chosen));
  EXPECT_THAT(chosenByAnother(), ElementsAre(chosen + ", as before"));
}

TEST(LibraryProducts, AreRoundedByTheLibraryAsARuleSays) {
  const Card card;
  const TestLaunch launch = oneProduct(5, 7, 300); // whose sums depend on the order of terms
  std::vector<std::vector<double>> all = {resultOf(onFastCard(launch, {RoundedTo::Bf16}))};
  std::vector<std::string> told;
  for (RoundedTo roundedTo : kRoundedTo) {
    all.push_back(resultOf(card.run(launch, {.roundedTo = roundedTo, .cublasLt = true})));
    std::ranges::move(card.device->choices(), std::back_inserter(told));
  }
  // Each has bits of its own, and those of bf16 are not those of our own kernel.
  for (size_t i = 0; i < all.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (i != 4 || j != 2) // fp16 has the digits of tf32, and no number here is near to 0
        EXPECT_NE(all[i], all[j]) << i << " " << j;
  // And an algorithm of its own, which another device finds in the cache.
  EXPECT_THAT(told, ElementsAre(HasSubstr("5 x 7 x 300 by"),
                                HasSubstr("5 x 7 x 300 of operands rounded to tf32 by"),
                                HasSubstr("rounded to bf16 by"), HasSubstr("rounded to fp16 by")));
  for (const std::string &each : told)
    EXPECT_EQ(each.find("as before"), std::string::npos);
  const auto other = cardWith(31, cuda::emulatedCublasLt);
  runFast(*other, launch, {.roundedTo = RoundedTo::Fp16, .cublasLt = true});
  EXPECT_THAT(other->choices(), ElementsAre(told.back() + ", as before"));
}

TEST(LibraryProducts, AreRefusedWithWhatIsMissing) {
  const Card card(+[]() -> Result<const cuda::CublasLt *> {
    return fail(ErrorCode::E0503, "cuBLASLt was not found; looked for libcublasLt.so.13");
  });
  TestLaunch launch = oneProduct();
  const Status status = runOn(*card.device, launch, kRule);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(errorRecord(status.error().code).exit, ExitCode::Device);
  EXPECT_EQ(status.error().message, "emu:30: --fast cublaslt: cuBLASLt was not found; looked for "
                                    "libcublasLt.so.13");
  EXPECT_TRUE(runOn(*card.device, launch, FastRules()).ok());
}

/// The launch with room for the library after its own scratch.
TestLaunch withRoom(TestLaunch launch, int64_t columns, int64_t depth) {
  Array &scratch = launch["scratch"];
  scratch = bytes(roundUp(scratch.tensor.shape[0], kAlignment) + roomFor(1, columns, depth));
  return launch;
}

/// The layer with W x [T, B, G*H] as its inputs, each of which goes to one unit of one gate.
TestLaunch withInputs(TestLaunch launch, const RnnShape &shape, const std::vector<double> &wx) {
  const int64_t width = gateCount(shape.mode) * shape.units;
  launch["x"] = Array(DType::F32, {shape.steps, shape.batch, width},
                      [&](uint64_t i) { return wx[size_t(i)]; });
  const Array ones(DType::F32, {width, width}, [=](uint64_t i) {
    return i / uint64_t(width) == i % uint64_t(width) ? 1.0 : 0.0;
  });
  launch["w"] = packed(ones, gateCount(shape.mode));
  return launch;
}

/// W x of all steps by the library.
std::vector<double> inputsByLibrary(const Card &card, const RnnShape &shape) {
  const int64_t rows = shape.steps * shape.batch, width = gateCount(shape.mode) * shape.units;
  const std::vector<double> x = rnnForward(shape)["x"].values();
  TestLaunch launch(KernelId::Product);
  launch.operands = {
      Array(DType::F32, {1, rows, shape.inputs}, [&](uint64_t i) { return x[size_t(i)]; }),
      packed(rnnInputWeights(shape), 0), Array(), Array(DType::F32, {1, rows, width})};
  return resultOf(card.run(withScratch(launch)));
}

/// Of each way of a recurrent layer: GpuShape::asked.
class LibraryProductsOf : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ways, LibraryProductsOf, testing::Values(-1, 0, 1, 4));

/// All else is exact, so that the layer has the bits of one whose inputs are W x as the library
/// makes it.
TEST_P(LibraryProductsOf, MakeTheInputsOfARecurrentLayer) {
  const Card card(cuda::emulatedCublasLt, GetParam());
  int64_t changed = 0;
  for (RnnMode mode : {RnnMode::Relu, RnnMode::Tanh, RnnMode::Lstm, RnnMode::Gru})
    for (bool stash : {true, false})
      for (bool lengths : {true, false}) {
        RnnShape shape = {.mode = mode, .steps = 3, .batch = 5, .inputs = 9, .units = 7};
        shape.stash = stash;
        shape.lengths = lengths;
        shape.reverse = lengths;
        shape.chunk = stash ? 1 : shape.steps + 1; // with the place of R h
        TestLaunch exact = rnnForward(shape);
        exact.run(reference::kernel(KernelId::RnnForward));
        TestLaunch expected = withInputs(rnnForward(shape), shape, inputsByLibrary(card, shape));
        expected.run(reference::kernel(KernelId::RnnForward));
        TestLaunch fast =
            card.run(withRoom(rnnForward(shape), gateCount(mode) * shape.units, shape.inputs));
        for (std::string_view name : {"y", "hN", "cN", "gates", "cells", "before"}) {
          if (!exact[name].storage)
            continue;
          EXPECT_EQ(fast[name].values(), expected[name].values()) << shape.text() << ", " << name;
          changed += fast[name].values() != exact[name].values();
        }
        // Without room the kernel makes W x itself.
        TestLaunch whole = card.run(rnnForward(shape));
        EXPECT_EQ(whole.difference(exact), "") << shape.text();
      }
  EXPECT_GT(changed, 8);
}

TEST_P(LibraryProductsOf, MakeTheGradientsOfItsInputs) {
  const Card card(cuda::emulatedCublasLt, GetParam());
  const RnnShape shape = {.steps = 3, .batch = 5, .inputs = 9, .units = 7};
  TestLaunch exact = rnnBackward(shape);
  TestLaunch fast =
      card.run(withRoom(rnnBackward(shape), shape.inputs, gateCount(shape.mode) * shape.units));
  exact.run(reference::kernel(KernelId::RnnBackward));
  EXPECT_EQ(fast["dgates"].values(), exact["dgates"].values());
  const std::vector<double> is = fast["dx"].values(), want = exact["dx"].values();
  EXPECT_NE(is, want);
  const double sums = largest(exact["dgates"]) * largestRow(rnnInputWeights(shape), true);
  const double bound = boundOf(sums, double(gateCount(shape.mode) * shape.units), kRule);
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(is[i], want[i], bound) << i;
}

/// W x by the library, R h by tensor cores: a step is as near as by tensor cores alone.
TEST(LibraryProducts, MakeTheInputsOfALayerThatIsRounded) {
  constexpr FastRules kBoth = {.roundedTo = RoundedTo::Bf16, .cublasLt = true};
  const Card card;
  int64_t changed = 0;
  for (RnnMode mode : {RnnMode::Relu, RnnMode::Tanh, RnnMode::Lstm, RnnMode::Gru}) {
    RnnShape shape = {.mode = mode, .steps = 1, .batch = 5, .inputs = 300, .units = 7};
    shape.stash = false;
    shape.chunk = shape.steps + 1; // with the place of R h
    TestLaunch exact = rnnForward(shape);
    exact.run(reference::kernel(KernelId::RnnForward));
    const TestLaunch launch =
        withRoom(rnnForward(shape), gateCount(mode) * shape.units, shape.inputs);
    TestLaunch fast = card.run(launch, kBoth);
    EXPECT_EQ(card.run(launch, kBoth).difference(fast), "");
    const double bound = stepBound(shape, exact, kBoth, false);
    const std::vector<double> is = fast["y"].values(), want = exact["y"].values();
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_NEAR(is[i], want[i], bound) << shape.text() << ", " << i;
    changed += is != onFastCard(rnnForward(shape), {RoundedTo::Bf16})["y"].values();
    // The library with exact R h is another set of rules.
    EXPECT_NE(is, card.run(launch)["y"].values()) << shape.text();
  }
  EXPECT_GT(changed, 0);
}

} // namespace
} // namespace lstmc::conformance
