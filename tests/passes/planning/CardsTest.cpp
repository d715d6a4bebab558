// Plans for absent cards: the kernel variant of each recurrent layer in the plan is the one chosen
// when the package is loaded on a card with the same attributes.
#include <set>

#include <gtest/gtest.h>

#include "backends/cuda/compiler/Cards.h"
#include "backends/cuda/emulated/EmulatedCublasLt.h"
#include "backends/cuda/emulated/EmulatedCudnn.h"
#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/emulated/EmulatedKernels.h"
#include "backends/cuda/kernels/RecurrenceTensor.h"
#include "backends/cuda/runtime/GpuDevice.h"
#include "backends/registry/Targets.h"
#include "passes/planning/PackageForecast.h"
#include "tests/e2e/Net.h"
#include "tests/executor/data/Files.h"

namespace lstmc::planning {
namespace {

/// The card that the fake driver reports, and the recurrences launched on it.
const cuda::DataSheet *card = nullptr;
std::multiset<std::string> launched;

cuda::DriverResult attributeOfCard(int *value, int attribute, cuda::CardNumber) {
  constexpr int kBusBits = 1024;
  switch (attribute) {
  case cuda::kSharedBytesOfBlock:
    return *value = card->sharedKiBOfBlock << 10, 0;
  case cuda::kMultiprocessorCount:
    return *value = card->multiprocessors, 0;
  case cuda::kCapabilityMajor:
    return *value = card->capability / 10, 0;
  case cuda::kCapabilityMinor:
    return *value = card->capability % 10, 0;
  case cuda::kClockRate:
    return *value = int(card->clockMegahertz * 1e3), 0;
  case cuda::kL2CacheSize:
    return *value = card->l2MiB << 20, 0;
  case cuda::kMemoryBusWidth:
    return *value = kBusBits, 0;
  case cuda::kMemoryClockRate: // two transfers of the bus in a cycle; in kHz
    return *value = int(card->memoryGigabytesPerSecond * 1e6 / (2 * kBusBits / 8)), 0;
  default:
    return 1;
  }
}

/// Records recurrences as wayText() prints them, without running anything.
cuda::DriverResult writeDown(const cuda::LaunchConfig *config, cuda::DriverFunction function,
                             void **, void **) {
  const std::string name(reinterpret_cast<const cuda::EmulatedKernel *>(function)->name);
  if (!name.starts_with("lstmc_rnn"))
    return 0;
  const unsigned blocks = config->attributeCount ? config->attributes->value[0] : 1;
  const bool tensor = name.ends_with("_bf16") || name.ends_with("_fp16");
  launched.insert(fmt::format("{} {}, {} clusters of {}, {} rows",
                              name.find("backward") == name.npos ? "f" : "b",
                              tensor                              ? "tensor-cores"
                              : name.find("on_chip") == name.npos ? "through-cache"
                                                                  : "on-chip",
                              config->grid[0] / blocks, blocks,
                              tensor                          ? gpu::kTensorRows
                              : name.find("_4_") == name.npos ? 1
                                                              : 4));
  return 0;
}

std::string wayText(const LayerWay &layer) {
  return fmt::format("{} {}, {} clusters of {}, {} rows", layer.backward ? "b" : "f",
                     layer.way.name, layer.way.clusters, layer.way.blocks, layer.way.rows);
}

package::PackageData netOf(int64_t hidden, int64_t batch, FastRules fast = FastRules()) {
  e2e::Recipe recipe = {.file = "samples/stacked.lnet", .steps = 2};
  recipe.load.settings = {{"vocab", "21"},
                          {"hidden", std::to_string(hidden)},
                          {"layers", "2"},
                          {"batch", std::to_string(batch)}};
  recipe.compile.entries = {"forward", "step"};
  recipe.compile.optimizer.name = "sgd";
  recipe.compile.devices = {"gpu:0"};
  recipe.compile.fast = fast;
  return e2e::compileNet(recipe).package;
}

target::Machine machineNamed(std::string_view name) {
  for (const target::KnownMachine &known : targetOf("gpu:0").knownMachines())
    if (known.name == name)
      return known.machine;
  throw std::runtime_error("no such card");
}

std::vector<LayerWay> waysOn(std::string_view name, const package::PackageData &data) {
  return forecastPackage(data, {machineNamed(name)}).ways;
}

/// Loads the package on a card with these attributes, and runs a step.
std::multiset<std::string> takenOn(const cuda::DataSheet &sheet, const package::PackageData &data) {
  static const cuda::Driver driver = [] {
    cuda::Driver table = cuda::emulatedDriver();
    table.deviceAttribute = attributeOfCard;
    table.launch = writeDown;
    return table;
  }();
  static const test::TemporaryFolder cache; // of what a library chooses
  setenv("LSTMC_CACHE_DIR", cache.path().c_str(), 1);
  card = &sheet;
  std::vector<std::unique_ptr<Device>> devices;
  devices.push_back(std::move(*cuda::makeGpuDevice("gpu:0", driver,
                                                   {.images = cuda::emulatedImages(),
                                                    .cublasLt = cuda::emulatedCublasLt,
                                                    .cudnn = cuda::emulatedCudnn})));
  auto package = package::Package::open(package::serialize(data), "cards");
  auto session = Session::create(std::move(*package), std::move(devices));
  launched.clear();
  EXPECT_TRUE(session.ok());
  (*session)->setScalar("learning_rate", 0.125);
  (*session)->setScalar("update", int64_t(1));
  EXPECT_TRUE((*session)->run("step").ok());
  return launched;
}

TEST(Cards, APlanNamesTheWaysThatAreTakenAtLoad) {
  ASSERT_EQ(cuda::dataSheets().size(), 4u);
  const FastRules none = FastRules(), bf16 = FastRules{RoundedTo::Bf16},
                  tf32 = FastRules{RoundedTo::Tf32}, library = {.cublasLt = true},
                  layers = {.cudnn = true}, both = {.roundedTo = RoundedTo::Bf16, .cublasLt = true};
  for (auto [hidden, batch, fast] : {std::tuple(16, 3, none),
                                     {128, 32, none},
                                     {256, 8, none},
                                     {256, 64, none},
                                     {512, 1, none},
                                     {512, 32, none},
                                     {16, 3, bf16},
                                     {256, 64, bf16},
                                     {512, 9, bf16},
                                     {768, 16, bf16},
                                     {1024, 1, bf16},
                                     {256, 8, tf32},
                                     {16, 3, library},
                                     {256, 8, library},
                                     {256, 8, layers},
                                     {16, 3, both},
                                     {256, 64, both},
                                     {1024, 1, both}}) {
    const package::PackageData data = netOf(hidden, batch, fast);
    for (const cuda::DataSheet &sheet : cuda::dataSheets()) {
      std::multiset<std::string> planned;
      int64_t layers = 0;
      for (const LayerWay &layer : waysOn(sheet.name, data))
        for (int64_t i = 0; i < layer.launches; ++i, ++layers)
          if (layer.way.name != "step-by-step") // no kernel of its own
            planned.insert(wayText(layer));
      EXPECT_EQ(layers, 4); // two layers, forward and backward
      EXPECT_EQ(takenOn(sheet, data), planned) << sheet.name << ", " << hidden << " units";
    }
  }
}

/// In 16 bits and in registers too, more weights stay on the chip.
TEST(Cards, KeepMoreUnitsForTensorCores) {
  auto forwardOn = [](std::string_view name, int64_t hidden, FastRules rule) {
    return wayText(waysOn(name, netOf(hidden, 64, rule)).front());
  };
  EXPECT_EQ(forwardOn("H100", 512, FastRules{RoundedTo::Bf16}),
            "f tensor-cores, 8 clusters of 16, 8 rows");
  for (const LayerWay &layer : waysOn("H100", netOf(512, 64, FastRules{RoundedTo::Bf16})))
    EXPECT_EQ(layer.way.name, "tensor-cores");
  EXPECT_NE(forwardOn("H100", 768, FastRules{RoundedTo::Bf16}).find("tensor-cores"),
            std::string::npos);
  EXPECT_NE(forwardOn("H100", 769, FastRules{RoundedTo::Bf16}).find("step-by-step"),
            std::string::npos);
  EXPECT_EQ(forwardOn("H100", 512, FastRules{RoundedTo::Fp16}),
            forwardOn("H100", 512, FastRules{RoundedTo::Bf16}));
  EXPECT_EQ(forwardOn("H100", 512, FastRules{RoundedTo::Tf32}),
            forwardOn("H100", 512, FastRules()));
  EXPECT_EQ(forwardOn("A100", 64, FastRules{RoundedTo::Bf16}),
            "f tensor-cores, 8 clusters of 1, 8 rows");
  EXPECT_NE(forwardOn("A100", 65, FastRules{RoundedTo::Bf16}).find("step-by-step"),
            std::string::npos);
  const target::Machine card = machineNamed("H100");
  auto update = [&](FastRules rule) {
    return *forecastPackage(netOf(512, 64, rule), {card}).updateSeconds;
  };
  EXPECT_LT(update(FastRules{RoundedTo::Bf16}), update(FastRules{RoundedTo::Tf32}));
  EXPECT_LT(update(FastRules{RoundedTo::Tf32}), update(FastRules()));
}

TEST(Cards, OnesWithClustersKeepWeightsThatOthersReadAtEachStep) {
  auto forwardOn = [](std::string_view name, int64_t hidden) {
    return wayText(waysOn(name, netOf(hidden, 64)).front());
  };
  EXPECT_EQ(forwardOn("H100", 256), "f on-chip, 16 clusters of 8, 4 rows");
  EXPECT_EQ(forwardOn("H200", 256), forwardOn("H100", 256));
  EXPECT_EQ(forwardOn("L4", 256), "f step-by-step, 1 clusters of 1, 64 rows");
  EXPECT_EQ(forwardOn("A100", 256), "f step-by-step, 1 clusters of 1, 64 rows");
  EXPECT_EQ(forwardOn("H100", 512), "f on-chip, 16 clusters of 16, 4 rows");
  EXPECT_EQ(forwardOn("H100", 1024), "f step-by-step, 1 clusters of 1, 64 rows");
  // R of 64 KiB fits into a block of every card, and of 256 KiB with registers where a block has
  // 163 KiB of shared memory.
  for (const cuda::DataSheet &sheet : cuda::dataSheets())
    EXPECT_NE(forwardOn(sheet.name, 64).find("on-chip"), std::string::npos) << sheet.name;
  EXPECT_NE(forwardOn("A100", 128).find("on-chip"), std::string::npos);
  EXPECT_EQ(forwardOn("L4", 128).find("on-chip"), std::string::npos);
}

/// The whole update, and a step of the recurrence, by the clocks and rates of the cards.
TEST(Cards, TakeTheTimeOfTheirRates) {
  const package::PackageData large = netOf(1024, 64);
  auto update = [&](std::string_view name) {
    return *forecastPackage(large, {machineNamed(name)}).updateSeconds;
  };
  EXPECT_LT(update("H200"), update("H100")); // its memory
  EXPECT_LT(update("H100"), update("A100"));
  EXPECT_LT(update("H100"), update("L4"));
  // A card declared twice as slow takes twice as long, in recurrences too.
  const target::Target &gpu = targetOf("gpu:0");
  const target::Machine slow = gpu.slowed(machineNamed("H100"), 2);
  EXPECT_NEAR(*forecastPackage(large, {slow}).updateSeconds, 2 * update("H100"),
              1e-9 * update("H100"));
  EXPECT_EQ(waysOn("H100", large).size(), forecastPackage(large, {slow}).ways.size());
}

TEST(Cards, DataSheetsAgreeWithThemselves) {
  for (const cuda::DataSheet &sheet : cuda::dataSheets()) {
    const int cores = sheet.capability == 80 ? 64 : 128; // of a multiprocessor
    EXPECT_NEAR(sheet.multiprocessors * cores * 2 * sheet.clockMegahertz * 1e-6,
                sheet.fp32Teraflops, 0.01 * sheet.fp32Teraflops)
        << sheet.name;
    EXPECT_NEAR(sheet.bf16Teraflops, 2 * sheet.tf32Teraflops, 0.01 * sheet.bf16Teraflops);
    EXPECT_EQ(sheet.sharedKiB - sheet.sharedKiBOfBlock, 1); // the system's
    EXPECT_EQ(sheet.registers, 64 * 1024);
  }
}

} // namespace
} // namespace lstmc::planning
