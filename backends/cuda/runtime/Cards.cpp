#include "backends/cuda/runtime/Cards.h"

#include <algorithm>

namespace lstmc::cuda {

namespace {

constexpr size_t kNameBytes = 256;

DriverResult askDriver(const Driver &driver, CardFacts &card) {
  char name[kNameBytes] = {};
  size_t bytes = 0;
  int major = 0, minor = 0;
  DriverResult error = driver.deviceName(name, int(sizeof(name)) - 1, card.number);
  if (!error)
    error = driver.deviceMemory(&bytes, card.number);
  if (!error)
    error = driver.deviceAttribute(&card.multiprocessors, kMultiprocessorCount, card.number);
  if (!error)
    error = driver.deviceAttribute(&major, kCapabilityMajor, card.number);
  if (!error)
    error = driver.deviceAttribute(&minor, kCapabilityMinor, card.number);
  card.name = name;
  card.memoryBytes = bytes;
  card.capability = major * 10 + minor;
  return error;
}

/// Null if NVML does not know the card.
NvmlCard handleOf(const Driver &driver, const Nvml &nvml, CardNumber number) {
  char bus[kNameBytes] = {};
  NvmlCard card = nullptr;
  if (driver.pciBusId(bus, int(sizeof(bus)) - 1, number) || nvml.cardOfBus(bus, &card))
    return nullptr;
  return card;
}

unsigned nvLinks(const Nvml &nvml, NvmlCard card) {
  unsigned links = 0;
  for (unsigned link = 0; link < kMostNvLinks; ++link)
    if (int active = 0; nvml.linkState(card, link, &active) == 0 && active == kLinkActive)
      ++links;
  return links;
}

std::string linkText(const Nvml &nvml, NvmlCard a, NvmlCard b) {
  if (!a || !b)
    return "";
  if (a == b)
    return "X";
  if (int status = -1; nvml.peerStatus(a, b, kByNvLink, &status) == 0 && status == kPeerOk)
    if (const unsigned links = std::min(nvLinks(nvml, a), nvLinks(nvml, b)))
      return fmt::format("NV{}", links);
  int level = -1;
  if (nvml.commonAncestor(a, b, &level))
    return "";
  // By tens, from two cards on one board on.
  static constexpr const char *kNames[] = {"PIX", "PIX", "PXB", "PHB", "NODE", "SYS"};
  const bool known = level >= 0 && level % 10 == 0 && size_t(level / 10) < std::size(kNames);
  return known ? kNames[level / 10] : "";
}

void askNvml(const Nvml &nvml, NvmlCard handle, CardFacts &card) {
  if (NvmlMemory memory = {}; nvml.memory(handle, &memory) == 0)
    card.freeBytes = memory.free;
  auto clock = [&](auto ask, int domain) {
    unsigned megahertz = 0;
    return ask(handle, domain, &megahertz) == 0 ? megahertz : 0;
  };
  card.clock = clock(nvml.clock, kMultiprocessorClock);
  card.mostClock = clock(nvml.mostClock, kMultiprocessorClock);
  card.memoryClock = clock(nvml.clock, kMemoryClock);
}

} // namespace

Result<std::vector<CardFacts>> cardFacts(const Driver &driver, const Nvml *nvml) {
  int count = 0;
  DriverResult error = driver.deviceCount(&count);
  std::vector<CardFacts> cards(size_t(std::max(0, count)));
  for (size_t i = 0; i < cards.size() && !error; ++i) {
    cards[i].number = CardNumber(i);
    error = askDriver(driver, cards[i]);
  }
  if (error)
    return fail(ErrorCode::E0501, "the driver does not say what its GPUs are: {}",
                driver.textOf(error));
  if (!nvml)
    return cards;
  std::vector<NvmlCard> handles;
  for (const CardFacts &card : cards)
    handles.push_back(handleOf(driver, *nvml, card.number));
  for (size_t i = 0; i < cards.size(); ++i) {
    if (handles[i])
      askNvml(*nvml, handles[i], cards[i]);
    for (NvmlCard other : handles)
      cards[i].links.push_back(linkText(*nvml, handles[i], other));
  }
  return cards;
}

std::optional<CardLoad> cardLoad(const Driver &driver, const Nvml &nvml, CardNumber card) {
  NvmlCard handle = handleOf(driver, nvml, card);
  NvmlMemory memory = {};
  NvmlUtilization utilization = {};
  if (!handle || nvml.memory(handle, &memory) || nvml.utilization(handle, &utilization))
    return std::nullopt;
  return CardLoad{memory.free, utilization.busy};
}

} // namespace lstmc::cuda
