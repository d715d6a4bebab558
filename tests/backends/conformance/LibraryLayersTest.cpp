// Recurrent layers by cuDNN's table, on an emulated GPU: near to the exact ones, repeated to the
// bit, and carried out by our own kernels, to the exact bits, where the library cannot.
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>

#include "backends/conformance/Conformance.h"
#include "backends/conformance/RecurrenceLaunch.h"
#include "backends/cuda/emulated/EmulatedCudnn.h"
#include "backends/cuda/model/LibraryScratch.h"
#include "tests/backends/conformance/GpuCards.h"
#include "tests/backends/conformance/StepBound.h"

namespace lstmc::conformance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr FastRule kRule = FastRule::Cudnn;
constexpr RnnMode kModes[] = {RnnMode::Relu, RnnMode::Tanh, RnnMode::Lstm, RnnMode::Gru};

std::unique_ptr<Device> cardWith(Result<const cuda::Cudnn *> (*library)()) {
  return std::move(*cuda::makeGpuDevice(
      "emu:40", cuda::emulatedDriver(),
      {.card = 40, .images = cuda::emulatedImages(), .onHost = hostKernel, .cudnn = library}));
}
Device &card() {
  static const std::unique_ptr<Device> device = cardWith(cuda::emulatedCudnn);
  return *device;
}

cuda::LibraryLayerScratch scratchFor(const RnnShape &s) {
  const bool copies = s.reverse || s.rows != Layout::Dense;
  return cuda::libraryScratchOf({.gates = gateCount(s.mode),
                                 .steps = s.steps,
                                 .batch = s.batch,
                                 .inputs = s.inputs,
                                 .units = s.units,
                                 .copiesInputs = copies,
                                 .copiesOutputs = copies});
}

/// A layer as the compiler makes it under the rule, and as it is in inference.
TestLaunch layer(const RnnShape &shape) {
  TestLaunch launch = rnnForward(shape);
  launch["scratch"] =
      Array(DType::U8, {std::max(launch["scratch"].tensor.shape[0], scratchFor(shape).bytes)});
  return launch;
}
RnnShape inference(RnnMode mode, int64_t steps = 1) {
  RnnShape shape = {.mode = mode, .steps = steps};
  shape.stash = false;
  return shape;
}

/// Units that fill no panel, one, and more; and every operand that may be absent.
std::vector<RnnShape> shapes(int64_t steps) {
  std::vector<RnnShape> all;
  for (RnnMode mode : kModes) {
    for (auto [batch, inputs, units] : {std::array<int64_t, 3>{1, 3, 7}, {3, 5, 16}, {5, 18, 37}}) {
      RnnShape shape = inference(mode, steps);
      shape.batch = batch;
      shape.inputs = inputs;
      shape.units = units;
      all.push_back(shape);
    }
    for (auto change :
         {+[](RnnShape &s) { s.reverse = true; }, +[](RnnShape &s) { s.biases = false; },
          +[](RnnShape &s) { s.states = false; }, +[](RnnShape &s) { s.finals = false; },
          +[](RnnShape &s) { s.rows = Layout::Strided; },
          +[](RnnShape &s) {
            s.rows = Layout::Strided;
            s.reverse = true;
          }}) {
      RnnShape shape = inference(mode, steps);
      change(shape);
      all.push_back(shape);
    }
  }
  return all;
}

void expectStep(Device &device, int64_t &changed) {
  for (RnnShape shape : shapes(1)) {
    TestLaunch fast = runFast(device, layer(shape), kRule);
    TestLaunch again = runFast(device, layer(shape), kRule);
    TestLaunch f32 = rnnForward(shape);
    f32.run(reference::kernel(KernelId::RnnForward));
    shape.type = DType::F64;
    TestLaunch exact = rnnForward(shape);
    exact.run(reference::kernel(KernelId::RnnForward));
    const double bound = stepBound(shape, exact, kRule, /*biasesInSum=*/true);
    for (std::string_view name : {"y", "hN", "cN"}) {
      const std::vector<double> is = valuesOf(fast, name), want = valuesOf(exact, name);
      ASSERT_EQ(is.size(), want.size());
      for (size_t i = 0; i < is.size(); ++i)
        ASSERT_NEAR(is[i], want[i], bound) << shape.text() << ", " << name << " element " << i;
      EXPECT_EQ(is, valuesOf(again, name)) << shape.text();
      changed += is != valuesOf(f32, name);
    }
  }
}

TEST(LibraryLayers, AreNearToTheExactOnesAndRepeatedToTheBit) {
  int64_t changed = 0;
  expectStep(card(), changed);
  EXPECT_GT(changed, int64_t(shapes(1).size())); // else no library was used
}
TEST(RealCudnn, IsNearToTheExactLayersAndRepeatsItself) {
  if (auto library = cuda::machineCudnn(); !library.ok())
    GTEST_SKIP() << library.error().message;
  auto device = realGpu();
  if (!device.ok())
    GTEST_SKIP() << device.error().message;
  int64_t changed = 0;
  expectStep(**device, changed);
  for (const std::string &told : (*device)->choices())
    EXPECT_EQ(told.find("our own kernels"), std::string::npos) << told;
}

/// A step of the layer whose states are those after the steps before.
TEST(LibraryLayers, ManyStepsAreOneStepRepeated) {
  for (const RnnShape &shape : shapes(4)) {
    TestLaunch whole = layer(shape), all = runFast(card(), whole, kRule);
    RnnShape single = shape;
    single.steps = 1;
    single.states = single.finals = true;
    TestLaunch one = layer(single);
    for (std::string_view name : {"h0", "c0"})
      if (const Array &array = one[name]; array.storage && !shape.states)
        one[name] = Array(DType::F32, {shape.batch, shape.units}, [](uint64_t) { return 0.0; });
    for (int64_t i = 0; i < shape.steps; ++i) {
      const int64_t t = shape.reverse ? shape.steps - 1 - i : i;
      one["x"] = whole["x"].slice(0, t, 1);
      TestLaunch done = runFast(card(), one, kRule);
      EXPECT_EQ(done["y"].values(), all["y"].slice(0, t, 1).values())
          << shape.text() << ", step " << t;
      one["h0"] = done["hN"];
      if (one["c0"].storage)
        one["c0"] = done["cN"];
      if (i + 1 == shape.steps && shape.finals)
        for (std::string_view name : {"hN", "cN"})
          EXPECT_EQ(valuesOf(done, name), valuesOf(all, name)) << shape.text();
    }
  }
}

/// What the device says of a launch, whose results are the exact ones.
std::vector<std::string> toldOf(Device &device, const TestLaunch &launch) {
  TestLaunch exact = launch.clone();
  exact.run(reference::kernel(launch.id));
  EXPECT_EQ(runFast(device, launch, kRule).difference(exact), "");
  return device.choices();
}

TEST(LibraryLayers, AreTheExactOnesWhereTheLibraryCannotHaveThem) {
  const auto device = cardWith(cuda::emulatedCudnn);
  const std::string own = "cuDNN 9.19.0: lstm of 2 x 3 x 5, 7 units, by our own kernels: ";
  const auto told = [&](auto change) {
    RnnShape shape = inference(RnnMode::Lstm, 2);
    change(shape);
    return toldOf(*device, layer(shape));
  };
  EXPECT_THAT(told([](RnnShape &s) { s.stash = true; }),
              ElementsAre(own + "its gates are kept for backward"));
  EXPECT_THAT(told([](RnnShape &s) { s.lengths = true; }),
              ElementsAre(own + "its sequences have lengths"));
  EXPECT_THAT(told([](RnnShape &s) { s.other = Layout::Strided; }),
              ElementsAre(own + "a state has gaps"));
  EXPECT_THAT(told([](RnnShape &s) { s.lengths = true; }), IsEmpty()); // once
  EXPECT_THAT(told([](RnnShape &s) { s.type = DType::F64; }), IsEmpty());
  RnnShape shape = inference(RnnMode::Lstm, 2);
  EXPECT_THAT(toldOf(*device, rnnBackward(RnnShape())), IsEmpty());
  const int64_t wants = scratchFor(shape).bytes;
  TestLaunch tight = layer(shape);
  tight["scratch"] = Array(DType::U8, {wants - 1});
  EXPECT_THAT(toldOf(*device, tight),
              ElementsAre(own + fmt::format("the plan has {} bytes of scratch, and it takes {}",
                                            wants - 1, wants)));
}

const cuda::Cudnn &ours() { return **cuda::emulatedCudnn(); }

/// Where the library wants more than the plan has, or weights in another way, or refuses.
TEST(LibraryLayers, AreTheExactOnesWhereTheLibraryRefuses) {
  static cuda::Cudnn table;
  const auto told = [] {
    const auto device = cardWith(+[] { return Result<const cuda::Cudnn *>(&table); });
    return toldOf(*device, layer(inference(RnnMode::Gru))).at(0);
  };
  const cuda::LibraryLayerScratch scratch = scratchFor(inference(RnnMode::Gru));
  const std::string own = "cuDNN 9.19.0: gru of 1 x 3 x 5, 7 units, by our own kernels: ";
  table = ours();
  table.workspaceBytes = [](cuda::CudnnHandle, cuda::CudnnLayer, int, cuda::CudnnSequences,
                            size_t *bytes, size_t *) {
    *bytes = 1 << 30;
    return 0;
  };
  EXPECT_EQ(told(), own + fmt::format("the plan has {} bytes of workspace, and the library wants "
                                      "1073741824",
                                      scratch.workspaceBytes));
  table = ours();
  table.weightBytes = [](cuda::CudnnHandle, cuda::CudnnLayer, size_t *bytes) {
    *bytes = 1 << 20;
    return 0;
  };
  EXPECT_EQ(told(), own + fmt::format("the plan has {} bytes for its weights, and the library "
                                      "wants 1048576",
                                      scratch.inputs));
  table = ours();
  table.findWeights = [](cuda::CudnnHandle handle, cuda::CudnnLayer layer, int32_t pseudoLayer,
                         size_t bytes, const void *weights, int32_t number,
                         cuda::CudnnTensor matrixShape, void **matrix, cuda::CudnnTensor biasShape,
                         void **bias) {
    return ours().findWeights(handle, layer, pseudoLayer, bytes, weights, number ^ 1, matrixShape,
                              matrix, biasShape, bias);
  };
  EXPECT_EQ(told(), own + "the library has another order of weights");
  table = ours();
  table.setSequences = [](cuda::CudnnSequences, int, int, int, int, int, const int *, void *) {
    return cuda::kCudnnNotSupported;
  };
  EXPECT_EQ(told(), own + "not supported");
}

TEST(LibraryLayers, AreToldOnceForAShape) {
  const auto device = cardWith(cuda::emulatedCudnn);
  // W x of 2 steps of 3 sequences, 3 gates of 7 units: 2 * 3 * 21 * 4 bytes.
  for (const char *told : {"cuDNN 9.19.0: gru of 2 x 3 x 5, 7 units, by the standard algorithm, "
                           "504 bytes of workspace",
                           ""}) {
    runFast(*device, layer(inference(RnnMode::Gru, 2)), kRule);
    const std::vector<std::string> choices = device->choices();
    EXPECT_EQ(choices.empty() ? "" : choices.at(0), told);
  }
}

TEST(LibraryLayers, AreRefusedWithWhatIsMissing) {
  const auto device = cardWith(+[]() -> Result<const cuda::Cudnn *> {
    return fail(ErrorCode::E0503, "cuDNN was not found; looked for libcudnn.so.9");
  });
  TestLaunch launch = layer(inference(RnnMode::Lstm));
  const Status status = runOn(*device, launch, kRule);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(errorRecord(status.error().code).exit, ExitCode::Device);
  EXPECT_EQ(status.error().message,
            "emu:40: --fast cudnn: cuDNN was not found; looked for libcudnn.so.9");
  EXPECT_TRUE(runOn(*device, launch, FastRule::None).ok());
}

} // namespace
} // namespace lstmc::conformance
