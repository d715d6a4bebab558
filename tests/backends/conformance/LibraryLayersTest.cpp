// Recurrent layers by cuDNN's table, on an emulated GPU: near to the exact ones, repeated to the
// bit, by an algorithm that is chosen once and kept, and carried out by our own kernels, to the
// exact bits, where the library cannot.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include <gmock/gmock.h>

#include "backends/conformance/Conformance.h"
#include "backends/conformance/RecurrenceLaunch.h"
#include "backends/cuda/emulated/EmulatedCudnn.h"
#include "backends/cuda/model/LibraryScratch.h"
#include "backends/cuda/runtime/LayerAlgorithms.h"
#include "backends/cuda/text/KeptFiles.h"
#include "tests/backends/conformance/GpuCards.h"
#include "tests/backends/conformance/StepBound.h"
#include "tests/executor/data/Files.h"

namespace lstmc::conformance {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr FastRules kRule = {.cudnn = true};
constexpr RnnMode kModes[] = {RnnMode::Relu, RnnMode::Tanh, RnnMode::Lstm, RnnMode::Gru};

/// For the tests of this file, not the user's.
const std::filesystem::path &cache() {
  static const test::TemporaryFolder folder;
  return folder.path();
}
std::unique_ptr<Device> cardWith(Result<const cuda::Cudnn *> (*library)(),
                                 const cuda::Driver &driver = cuda::emulatedDriver()) {
  setenv("LSTMC_CACHE_DIR", cache().c_str(), 1);
  return std::move(*cuda::makeGpuDevice(
      "emu:40", driver,
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

/// Units that fill no panel, one, and more; every algorithm; and every operand that may be absent.
std::vector<RnnShape> shapes(int64_t steps) {
  std::vector<RnnShape> all;
  for (RnnMode mode : kModes) {
    for (auto [batch, inputs, units] :
         {std::array<int64_t, 3>{1, 3, 7}, {3, 5, 16}, {5, 18, 37}, {33, 3, 7}, {40, 128, 128}}) {
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
  // Layers that are left to our own kernels are named by tests/gpu/stages.py.
  for (const std::string &told : (*device)->choices())
    fmt::print("{}\n", told);
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

// ---- which algorithm ----

constexpr int kSmallH = cuda::kCudnnPersistentSmallH, kPersistent = cuda::kCudnnPersistent,
              kStandard = cuda::kCudnnStandard;

std::vector<int> askedFor(RnnMode mode, int64_t batch, int64_t inputs, int64_t units,
                          int multiprocessors = 132) {
  return cuda::layerAlgorithms(mode, {.batch = batch, .inputs = inputs, .units = units},
                               multiprocessors);
}

TEST(LibraryLayers, HaveAlgorithmsThatTheirShapeAsksFor) {
  for (RnnMode mode : kModes) {
    const bool gated = mode == RnnMode::Lstm || mode == RnnMode::Gru;
    const int64_t most = gated ? 192 : 384;
    EXPECT_THAT(askedFor(mode, 32, 5, most), ElementsAre(kSmallH, kStandard));
    EXPECT_THAT(askedFor(mode, 33, 5, most), ElementsAre(kStandard));
    EXPECT_THAT(askedFor(mode, 32, 5, most + 1), ElementsAre(kStandard));
    if (mode == RnnMode::Gru)
      EXPECT_THAT(askedFor(mode, 128, 128, 512), ElementsAre(kStandard));
    else
      EXPECT_THAT(askedFor(mode, 128, 128, 512), ElementsAre(kPersistent, kStandard));
  }
  EXPECT_THAT(askedFor(RnnMode::Lstm, 8, 128, 128), ElementsAre(kSmallH, kPersistent, kStandard));
  EXPECT_THAT(askedFor(RnnMode::Lstm, 128, 128, 1024), ElementsAre(kPersistent, kStandard));
  EXPECT_THAT(askedFor(RnnMode::Tanh, 88, 128, 1024), ElementsAre(kPersistent, kStandard));
  EXPECT_THAT(askedFor(RnnMode::Tanh, 96, 128, 768), ElementsAre(kPersistent, kStandard));
  EXPECT_THAT(askedFor(RnnMode::Tanh, 96, 128, 896), ElementsAre(kStandard));
  EXPECT_THAT(askedFor(RnnMode::Lstm, 136, 128, 512), ElementsAre(kStandard));
  EXPECT_THAT(askedFor(RnnMode::Lstm, 12, 128, 512), ElementsAre(kStandard));
  EXPECT_THAT(askedFor(RnnMode::Lstm, 8, 64, 512), ElementsAre(kStandard));
  EXPECT_THAT(askedFor(RnnMode::Lstm, 8, 128, 576), ElementsAre(kStandard));
  EXPECT_THAT(askedFor(RnnMode::Lstm, 8, 128, 1152), ElementsAre(kStandard));
  EXPECT_THAT(askedFor(RnnMode::Lstm, 8, 128, 512, 97), ElementsAre(kStandard));
}

std::vector<double> outputsOf(Device &device, const TestLaunch &launch) {
  TestLaunch done = runFast(device, launch, kRule);
  return valuesOf(done, "y");
}

/// A table of the library for a device of its own, whose cache is empty.
cuda::Cudnn changed;
struct Card {
  test::TemporaryFolder folder;
  std::unique_ptr<Device> device;

  explicit Card(const cuda::Cudnn &table = ours()) {
    changed = table;
    device = another();
  }
  /// That finds the same cache.
  std::unique_ptr<Device> another(const cuda::Driver &driver = cuda::emulatedDriver()) const {
    auto made = cardWith(+[] { return Result<const cuda::Cudnn *>(&changed); }, driver);
    setenv("LSTMC_CACHE_DIR", folder.path().c_str(), 1);
    return made;
  }
  std::vector<double> run(const TestLaunch &launch) const { return outputsOf(*device, launch); }
  /// The files that it has kept.
  std::vector<std::string> kept() const {
    std::vector<std::string> names;
    for (const auto &file : std::filesystem::recursive_directory_iterator(folder.path()))
      if (file.path().extension() == ".algorithm")
        names.push_back(file.path().filename());
    return names;
  }
};

/// The emulated library, which refuses to describe layers by some algorithms.
cuda::Cudnn without(std::set<int> algorithms) {
  static std::set<int> refused;
  refused = std::move(algorithms);
  cuda::Cudnn table = ours();
  table.setLayer = [](cuda::CudnnLayer layer, int algorithm, auto... rest) {
    return refused.contains(algorithm) ? cuda::kCudnnNotSupported
                                       : ours().setLayer(layer, algorithm, rest...);
  };
  return table;
}

/// That refuses so many runs with this, after others.
cuda::Cudnn refusing(int runs, cuda::CudnnResult error, int after = 0) {
  static int from, to, run;
  static cuda::CudnnResult with;
  from = after;
  to = after + runs;
  run = 0;
  with = error;
  cuda::Cudnn table = ours();
  table.advance = [](auto... all) {
    const int number = run++;
    return from <= number && number < to ? with : ours().advance(all...);
  };
  return table;
}

/// A layer for which all algorithms are asked: 2 steps of 8 sequences, 128 inputs and units.
TestLaunch askingLayer() {
  RnnShape shape = inference(RnnMode::Lstm, 2);
  shape.batch = 8;
  shape.inputs = shape.units = 128;
  return layer(shape);
}
/// As it is told. W x of 4 gates takes 2 * 8 * 512 * 4 bytes.
std::string toldBy(int algorithm) {
  return fmt::format("cuDNN 9.19.0: lstm of 2 x 8 x 128, 128 units, by {}, 32768 bytes of "
                     "workspace",
                     cuda::nameOfAlgorithm(algorithm));
}
/// y of that layer by one of them.
std::vector<double> resultBy(int algorithm) {
  std::set<int> others = {kSmallH, kPersistent, kStandard};
  others.erase(algorithm);
  return Card(without(others)).run(askingLayer());
}

TEST(LibraryLayers, AreByTheFirstAlgorithmThatTheLibraryTakes) {
  const std::string small = "; not by the persistent algorithm for small H: not supported",
                    large = "; not by the persistent algorithm: not supported";
  std::set<std::vector<double>> results;
  for (auto [refused, taken, told] : {std::tuple(std::set<int>{}, kSmallH, std::string()),
                                      {{kSmallH}, kPersistent, small},
                                      {{kSmallH, kPersistent}, kStandard, small + large},
                                      {{kPersistent}, kSmallH, ""}}) {
    const Card card(without(refused));
    const std::vector<double> found = card.run(askingLayer());
    EXPECT_THAT(card.device->choices(), ElementsAre(toldBy(taken) + told));
    EXPECT_EQ(found, resultBy(taken));
    results.insert(found);
  }
  EXPECT_EQ(results.size(), 3u); // each has bits of its own
}

/// Where the library says it of a size, or where that is more than is planned.
TEST(LibraryLayers, AreByAnotherAlgorithmWhereOneWantsTooMuch) {
  cuda::Cudnn table = ours();
  table.workspaceBytes = [](cuda::CudnnHandle, cuda::CudnnLayer, int, cuda::CudnnSequences,
                            size_t *bytes, size_t *) {
    static int asked = 0;
    *bytes = asked++ % 3 == 2 ? 32768 : 1 << 30;
    return asked % 3 == 1 ? cuda::kCudnnNotSupported : 0;
  };
  const Card card(table);
  card.run(askingLayer());
  EXPECT_THAT(card.device->choices(),
              ElementsAre(AllOf(HasSubstr(toldBy(kStandard)), HasSubstr("small H: not supported"),
                                EndsWith("and the library wants 1073741824"))));
}

TEST(LibraryLayers, HaveAnAlgorithmThatIsToldOnceAndKept) {
  const std::vector<double> small = resultBy(kSmallH), large = resultBy(kPersistent);
  const Card card;
  EXPECT_EQ(card.run(askingLayer()), small);
  EXPECT_THAT(card.device->choices(), ElementsAre(toldBy(kSmallH)));
  EXPECT_EQ(card.run(askingLayer()), small);
  EXPECT_THAT(card.device->choices(), IsEmpty());
  // W x of 2 steps of 3 sequences, 3 gates of 7 units: 2 * 3 * 21 * 4 bytes.
  card.run(layer(inference(RnnMode::Gru, 2)));
  EXPECT_THAT(card.device->choices(),
              ElementsAre("cuDNN 9.19.0: gru of 2 x 3 x 5, 7 units, by the persistent algorithm "
                          "for small H, 504 bytes of workspace"));

  const auto chosenByAnother = [&](const std::vector<double> &outputs) {
    const auto other = card.another();
    EXPECT_EQ(outputsOf(*other, askingLayer()), outputs);
    return other->choices();
  };
  EXPECT_THAT(chosenByAnother(small), ElementsAre(toldBy(kSmallH) + ", as before"));
  // What is damaged, or is no algorithm that the shape asks for, is replaced.
  ASSERT_EQ(card.kept().size(), 2u);
  for (const std::string &name : card.kept())
    test::writeText(card.folder / ("kernels/" + name), "no algorithm");
  EXPECT_THAT(chosenByAnother(small), ElementsAre(toldBy(kSmallH)));
  EXPECT_THAT(chosenByAnother(small), ElementsAre(toldBy(kSmallH) + ", as before"));
  const auto keep = [&](int32_t algorithm) {
    for (const std::string &name : card.kept())
      cuda::keepFile(name, {reinterpret_cast<const uint8_t *>(&algorithm), sizeof(algorithm)});
  };
  keep(2);
  EXPECT_THAT(chosenByAnother(small), ElementsAre(toldBy(kSmallH)));
  // What is kept stays, whatever the rule is now.
  keep(kPersistent);
  EXPECT_THAT(chosenByAnother(large), ElementsAre(toldBy(kPersistent) + ", as before"));
}

/// As after an update of a driver.
TEST(LibraryLayers, AreChosenAnewWhereTheLibraryRefusesWhatIsKept) {
  const Card card;
  card.run(askingLayer());
  changed = without({kSmallH});
  for (const char *told :
       {"; not by the persistent algorithm for small H: not supported", ", as before"}) {
    const auto other = card.another();
    runFast(*other, askingLayer(), kRule);
    EXPECT_THAT(other->choices(), ElementsAre(toldBy(kPersistent) + told));
  }
  changed = without({kPersistent});
  const auto other = card.another();
  runFast(*other, askingLayer(), kRule);
  EXPECT_THAT(other->choices(), ElementsAre(toldBy(kSmallH)));
}

/// A layer whose operands are in a device's memory.
class PlacedLayer {
public:
  PlacedLayer(Device &device, const TestLaunch &launch) : device_(device) {
    uint64_t bytes = 0;
    for (const Array &operand : launch.operands)
      bytes += operand.storage ? operand.storage->memory().size() + kAlignment : 0;
    EXPECT_TRUE(device.allocate(bytes).ok());
    EXPECT_TRUE(device.reserve(3, 0).ok());
    LaunchSpec spec{launch.id, {}, launch.ints, launch.floats, nullptr};
    spec.fast = kRule;
    for (const Array &operand : launch.operands)
      spec.operands.push_back(placed(operand));
    program_ = std::move(*device.prepare({std::move(spec)}));
  }
  /// As a graph of one launch, if `graph`.
  void run(uint32_t stream, bool graph) {
    const auto give = [&] { device_.launch(stream, *program_, 0, 1); };
    if (graph)
      device_.runGraph(*program_, stream, give);
    else
      give();
    device_.finish();
  }
  /// All operands.
  std::vector<std::byte> memory() const {
    std::vector<std::byte> bytes(end_);
    device_.copyOut(0, bytes);
    return bytes;
  }

private:
  Tensor placed(const Array &operand) {
    Tensor tensor = operand.tensor;
    if (!operand.storage)
      return tensor;
    const std::span<std::byte> memory = operand.storage->memory();
    device_.copyIn(end_, memory);
    tensor.data = device_.arena() + end_ + (tensor.as<std::byte>() - memory.data());
    end_ += uint64_t(roundUp(int64_t(memory.size()), kAlignment));
    return tensor;
  }

  Device &device_;
  uint64_t end_ = 0;
  std::unique_ptr<PreparedProgram> program_;
};

/// The first run is in no graph, the second would make one, and is refused.
TEST(LibraryLayers, GoWithoutAGraphWhereACaptureIsRefused) {
  std::vector<std::byte> wanted;
  for (bool refuses : {false, true}) {
    const Card card(refuses ? refusing(1, cuda::kCudnnNotSupported, 1) : ours());
    PlacedLayer layer(*card.device, askingLayer());
    for (int i = 0; i < 4; ++i)
      layer.run(0, true);
    EXPECT_EQ(card.device->launchesBegun(), 4u);
    const auto told = card.device->choices();
    if (refuses)
      EXPECT_THAT(told, ElementsAre("no graph of a library's launches: cudnnRNNForward: not "
                                    "supported",
                                    toldBy(kSmallH)));
    else
      EXPECT_THAT(told, ElementsAre(toldBy(kSmallH)));
    EXPECT_EQ(refuses ? wanted : wanted = layer.memory(), layer.memory());
  }
}

/// Where the graph is made and the driver takes no such graph.
TEST(LibraryLayers, GoWithoutAGraphThatTheDriverRefuses) {
  static int asked;
  asked = 0;
  static cuda::Driver driver;
  driver = cuda::emulatedDriver();
  driver.instantiate = [](auto...) -> cuda::DriverResult { return ++asked; };
  const Card card;
  const auto device = card.another(driver);
  PlacedLayer layer(*device, askingLayer());
  for (uint32_t graph : {0, 1})
    for (int i = 0; i < 3; ++i)
      layer.run(graph, true);
  EXPECT_EQ(asked, 2); // once for each
  EXPECT_THAT(device->choices(),
              ElementsAre("no graph of a library's launches: CUDA_ERROR_INVALID_VALUE: invalid "
                          "argument",
                          toldBy(kSmallH)));
}

TEST(LibraryLayers, HaveAHandleForEachStream) {
  static std::map<cuda::CudnnHandle, std::set<cuda::DriverStream>> streams;
  static std::set<cuda::CudnnHandle> open;
  streams.clear();
  open.clear();
  cuda::Cudnn table = ours();
  table.create = [](cuda::CudnnHandle *handle) {
    const cuda::CudnnResult error = ours().create(handle);
    open.insert(*handle);
    return error;
  };
  table.destroy = [](cuda::CudnnHandle handle) {
    open.erase(handle);
    return ours().destroy(handle);
  };
  table.setStream = [](cuda::CudnnHandle handle, cuda::DriverStream stream) {
    streams[handle].insert(stream);
    return ours().setStream(handle, stream);
  };
  {
    const Card card(table);
    PlacedLayer layer(*card.device, askingLayer());
    for (int i = 0; i < 2; ++i)
      for (uint32_t stream : {1, 2, 0})
        layer.run(stream, false);
    EXPECT_EQ(open.size(), 3u);
  }
  EXPECT_EQ(streams.size(), 3u);
  for (const auto &[handle, its] : streams)
    EXPECT_EQ(its.size(), 1u);
  EXPECT_TRUE(open.empty());
}

/// Another version, another card, and other operands may have another algorithm.
TEST(LibraryLayers, AreKeptForACardAVersionAndAShape) {
  const Card card;
  card.run(askingLayer());
  EXPECT_EQ(card.kept().size(), 1u);
  changed.version = []() -> size_t { return 92000; };
  card.run(askingLayer());
  EXPECT_EQ(card.kept().size(), 2u);
  static cuda::Driver driver;
  driver = cuda::emulatedDriver();
  driver.deviceName = [](char *name, int size, cuda::CardNumber) -> cuda::DriverResult {
    std::strncpy(name, "another", size_t(size));
    return 0;
  };
  runFast(*card.another(driver), askingLayer(), kRule);
  EXPECT_EQ(card.kept().size(), 3u);
  RnnShape shape = inference(RnnMode::Lstm, 2);
  for (auto change :
       {+[](RnnShape &) {}, +[](RnnShape &s) { s.steps = 3; },
        +[](RnnShape &s) { s.biases = false; }, +[](RnnShape &s) { s.finals = false; }}) {
    change(shape);
    const size_t before = card.kept().size();
    card.run(layer(shape));
    EXPECT_EQ(card.kept().size(), before + 1);
    card.run(layer(shape));
    EXPECT_EQ(card.kept().size(), before + 1);
  }
}

// ---- refusals that come with the first run ----

TEST(LibraryLayers, AreByTheNextAlgorithmWhereOneIsRefusedAtItsFirstRun) {
  const std::string after = ", after another was refused: cudnnRNNForward: not supported";
  const std::vector<double> large = resultBy(kPersistent), standard = resultBy(kStandard);
  const Card one(refusing(1, cuda::kCudnnNotSupported));
  EXPECT_EQ(one.run(askingLayer()), large);
  EXPECT_THAT(one.device->choices(), ElementsAre(toldBy(kSmallH), toldBy(kPersistent) + after));
  EXPECT_EQ(one.run(askingLayer()), large); // and from then on
  EXPECT_THAT(one.device->choices(), IsEmpty());
  const auto other = one.another();
  EXPECT_EQ(outputsOf(*other, askingLayer()), large);
  EXPECT_THAT(other->choices(), ElementsAre(toldBy(kPersistent) + ", as before"));

  constexpr cuda::CudnnResult kOfTheCard = 3007; // CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH
  const Card two(refusing(2, kOfTheCard));
  EXPECT_EQ(two.run(askingLayer()), standard);
  EXPECT_THAT(two.device->choices(), ElementsAre(toldBy(kSmallH), HasSubstr(toldBy(kPersistent)),
                                                 HasSubstr(toldBy(kStandard))));
}

/// Where it may have done something, where there is no other, and where it has run before.
TEST(LibraryLayers, FailWithTheLibrarysWordsElsewhere) {
  const auto messageOf = [](const Card &card, int runs) {
    TestLaunch launch = askingLayer();
    std::string message;
    try {
      (void)runOn(*card.device, launch, kRule, runs);
    } catch (const std::exception &error) {
      message = error.what();
    }
    return message;
  };
  const Card failing(refusing(1, cuda::kCudnnBadParameter));
  EXPECT_EQ(messageOf(failing, 1), "cudnnRNNForward: bad parameter");
  EXPECT_THAT(failing.device->choices(), ElementsAre(toldBy(kSmallH)));
  const std::string refused = "cudnnRNNForward: not supported";
  EXPECT_EQ(messageOf(Card(refusing(3, cuda::kCudnnNotSupported)), 1), refused);
  EXPECT_EQ(messageOf(Card(refusing(1, cuda::kCudnnNotSupported, 2)), 2), "");
  EXPECT_EQ(messageOf(Card(refusing(1, cuda::kCudnnNotSupported, 2)), 3), refused);
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
  EXPECT_TRUE(runOn(*device, launch, FastRules()).ok());
}

} // namespace
} // namespace lstmc::conformance
