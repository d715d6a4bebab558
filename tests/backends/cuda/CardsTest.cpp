// What is said of GPUs, from a driver and an NVML that say known things.
#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

#include "backends/cuda/emulated/EmulatedDriver.h"
#include "backends/cuda/runtime/Cards.h"
#include "backends/registry/GpuFacts.h"

namespace lstmc::cuda {
namespace {

/// Three of the emulated cards.
Driver threeCards() {
  Driver driver = emulatedDriver();
  driver.deviceCount = [](int *count) { return *count = 3, 0; };
  return driver;
}

int numberOf(NvmlCard card) { return int(reinterpret_cast<intptr_t>(card)) - 1; }

/// 0 and 1 are joined by 4 NVLinks, of 6 that card 1 has; 2 is beyond the host's bridge. Card 2 has
/// no clock that NVML knows.
Nvml fakeNvml() {
  Nvml nvml;
  nvml.cardOfBus = [](const char *bus, NvmlCard *card) {
    *card = reinterpret_cast<NvmlCard>(intptr_t(std::atoi(bus + std::strlen("emulated ")) + 1));
    return 0;
  };
  nvml.memory = [](NvmlCard card, NvmlMemory *memory) {
    return *memory = {100, 70 + unsigned(numberOf(card)), 30}, 0;
  };
  nvml.utilization = [](NvmlCard card, NvmlUtilization *utilization) {
    *utilization = {90 + unsigned(numberOf(card)), 20};
    return numberOf(card) == 2 ? 3 : 0;
  };
  nvml.clock = [](NvmlCard card, int domain, unsigned *megahertz) {
    *megahertz = domain == kMemoryClock ? 3201 : 345;
    return numberOf(card) == 2 ? 3 : 0;
  };
  nvml.mostClock = [](NvmlCard, int, unsigned *megahertz) { return *megahertz = 1980, 0; };
  nvml.commonAncestor = [](NvmlCard, NvmlCard, int *level) { return *level = 30, 0; };
  nvml.peerStatus = [](NvmlCard a, NvmlCard b, int way, int *status) {
    *status = way == kByNvLink && numberOf(a) < 2 && numberOf(b) < 2 ? kPeerOk : 1;
    return 0;
  };
  nvml.linkState = [](NvmlCard card, unsigned link, int *active) {
    *active = link < (numberOf(card) == 0 ? 4u : 6u);
    return 0;
  };
  return nvml;
}

using Names = std::vector<std::string>;

TEST(Cards, AreWhatDriverAndNvmlSay) {
  const Nvml nvml = fakeNvml();
  const auto cards = cardFacts(threeCards(), &nvml);
  ASSERT_TRUE(cards.ok());
  ASSERT_EQ(cards->size(), 3u);
  const CardFacts &card = (*cards)[1];
  EXPECT_EQ(card.number, 1);
  EXPECT_EQ(card.name, "emulated GPU");
  EXPECT_GT(card.memoryBytes, 0u);
  EXPECT_EQ(card.multiprocessors, 132);
  EXPECT_EQ(card.capability, 90);
  EXPECT_EQ(card.freeBytes, 71u);
  EXPECT_EQ(card.clock, 345u);
  EXPECT_EQ(card.mostClock, 1980u);
  EXPECT_EQ(card.memoryClock, 3201u);
  EXPECT_EQ((*cards)[2].clock, 0u);
  EXPECT_EQ((*cards)[0].links, (Names{"X", "NV4", "PHB"}));
  EXPECT_EQ((*cards)[1].links, (Names{"NV4", "X", "PHB"}));
  EXPECT_EQ((*cards)[2].links, (Names{"PHB", "PHB", "X"}));
}

TEST(Cards, WithoutNvmlAreWhatTheDriverSays) {
  const auto cards = cardFacts(threeCards(), nullptr);
  ASSERT_TRUE(cards.ok());
  EXPECT_EQ((*cards)[2].multiprocessors, 132);
  EXPECT_EQ((*cards)[2].freeBytes, 0u);
  EXPECT_TRUE((*cards)[2].links.empty());
}

TEST(Cards, ADriverThatRefusesIsAnError) {
  Driver driver = threeCards();
  driver.deviceMemory = [](size_t *, CardNumber) { return 1; };
  EXPECT_EQ(cardFacts(driver, nullptr).error().text(),
            "error[E0501]: the driver does not say what its GPUs are: CUDA_ERROR_INVALID_VALUE: "
            "invalid argument");
}

/// Of those that are GPUs and that NVML knows.
TEST(Cards, SayWhatTheyDo) {
  const Nvml nvml = fakeNvml();
  const std::vector<std::string> devices = {"cpu:0", "gpu:0", "emu:1", "gpu:2", "gpu:1"};
  EXPECT_EQ(gpuLoadText(devices, threeCards(), nvml),
            "gpu:0 70 bytes free, 90 % busy; gpu:1 71 bytes free, 91 % busy");
  EXPECT_EQ(gpuLoadText(std::vector<std::string>{"cpu:0"}, threeCards(), nvml), "");
}

TEST(Nvml, ALibraryThatIsMissingOrOtherIsNamed) {
  EXPECT_EQ(loadNvml("libno_such_nvml.so").error().message,
            "NVML: libno_such_nvml.so was not found where the system looks for libraries");
  EXPECT_EQ(loadNvml("libm.so.6").error().message, "NVML: libm.so.6 has no function nvmlInit_v2");
}

} // namespace
} // namespace lstmc::cuda
