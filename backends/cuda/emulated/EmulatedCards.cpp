#include "backends/cuda/emulated/EmulatedCards.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "backends/cuda/emulated/EmulatedGraphs.h"

namespace lstmc::cuda::emulated {

World::World() {
  const char *asked = std::getenv("LSTMC_EMU_SEED");
  reseed(asked ? std::strtoull(asked, nullptr, 10) : 0);
  for (int i = 0; i < kMaxDevices; ++i)
    cards[i].number = i;
  if (const char *number = std::getenv("LSTMC_EMU_CARDS"))
    count = std::clamp(std::atoi(number), 0, kMaxDevices);
}

void World::reseed(uint64_t number) {
  seed = number;
  for (Card &card : cards) {
    std::lock_guard lock(card.mutex);
    card.random.seed(number + uint64_t(&card - cards));
  }
}

bool isHidden(const char *variable) {
  const char *value = std::getenv(variable);
  return value && std::string_view(value) == "0";
}

World &world() {
  static auto *const world = new World; // devices may be destroyed after static objects
  return *world;
}

DriverResult failed(const Card &card) {
  faultText = card.fault;
  return kLaunchFailed;
}

Stream &newStream(Card &card) {
  std::lock_guard lock(card.mutex);
  std::lock_guard orderLock(world().orderMutex);
  return *card.streams.emplace_back(
      std::make_unique<Stream>(Stream{world().order.newStream(), &card, {}}));
}

Event &newEvent(Card &card) {
  std::lock_guard lock(card.mutex);
  std::lock_guard orderLock(world().orderMutex);
  Event &event = *card.events.emplace_back(std::make_unique<Event>());
  event.number = world().order.newEvent();
  event.card = &card;
  return event;
}

/// The seed that repeats the orders of this run is told with what was found.
static void fail(Card &card, const std::string &found) {
  card.fault = fmt::format("{} (LSTMC_EMU_SEED={})", found, world().seed);
}

static bool isReady(const Card &card, const Item &item) {
  if (item.ready)
    return !card.fault.empty() || item.ready();
  return !item.waits || item.event->recorded >= item.count;
}

/// Whether another process has a part in what comes next.
static bool isOutside(const Stream &stream) {
  return !stream.items.empty() && stream.items.front().ready;
}

static void carryOutNext(Card &card, Stream &stream, uint64_t seed) {
  const Item item = std::move(stream.items.front());
  stream.items.pop_front();
  if (item.work) {
    if (auto fault = card.fault.empty() ? item.work(seed) : std::nullopt)
      fail(card, *fault);
  } else if (!item.waits) {
    item.event->recorded = item.count;
  }
}

/// Carries out the next item of one of the streams that have one that is ready. False when there is
/// none. When another process is ready is no matter of the seed, so what waits for that comes as
/// soon as it can, and takes nothing from the orders that are drawn.
static bool step(Card &card) {
  std::vector<Stream *> ready;
  for (const auto &stream : card.streams) {
    if (!stream || stream->items.empty() || !isReady(card, stream->items.front()))
      continue;
    if (isOutside(*stream))
      return carryOutNext(card, *stream, 0), true;
    ready.push_back(stream.get());
  }
  if (ready.empty())
    return false;
  Stream &stream = *ready[card.random() % ready.size()];
  carryOutNext(card, stream, card.random());
  return true;
}

DriverResult give(Stream &stream, Operation operation) {
  Card &card = *stream.card;
  std::lock_guard lock(card.mutex);
  if (!card.fault.empty())
    return failed(card);
  if (stream.capture)
    return stream.capture->give(stream, std::move(operation));
  if (world().checksOrder) {
    std::lock_guard orderLock(world().orderMutex);
    if (auto conflict =
            world().order.add(stream.number, std::move(operation.what), operation.uses)) {
      fail(card, *conflict);
      return failed(card);
    }
  }
  stream.items.push_back(
      {std::move(operation.work), nullptr, 0, false, std::move(operation.ready)});
  while (card.random() % 4 == 0 && step(card))
    ;
  return kDone;
}

DriverResult record(Event &event, Stream &stream) {
  Card &card = *stream.card;
  std::lock_guard lock(card.mutex);
  if (stream.capture)
    return stream.capture->record(event, stream);
  std::lock_guard orderLock(world().orderMutex);
  world().order.record(event.number, stream.number);
  event.captured = false;
  stream.items.push_back({{}, &event, ++event.given, false});
  return kDone;
}

DriverResult wait(Stream &stream, Event &event) {
  Card &card = *stream.card;
  std::lock_guard lock(card.mutex);
  if (stream.capture || event.captured)
    return Capture::wait(stream, event);
  std::lock_guard orderLock(world().orderMutex);
  world().order.wait(stream.number, event.number);
  stream.items.push_back({{}, &event, event.given, true});
  return kDone;
}

static bool waitsOutside(const Card &card) {
  return std::ranges::any_of(card.streams,
                             [](const auto &stream) { return stream && isOutside(*stream); });
}

/// Whether a stream waits for an event of another card.
static bool waitsElsewhere(const Card &card) {
  return std::ranges::any_of(card.streams, [&](const auto &stream) {
    return stream && !stream->items.empty() && stream->items.front().waits &&
           stream->items.front().event->card != &card;
  });
}

bool isAwaited(const Card &card) {
  return std::ranges::any_of(world().cards, [&](Card &other) {
    if (&other == &card)
      return false;
    std::lock_guard lock(other.mutex);
    return std::ranges::any_of(other.streams, [&](const auto &stream) {
      return std::ranges::any_of(
          stream->items, [&](const Item &item) { return item.waits && item.event->card == &card; });
    });
  });
}

/// Carries out something on any other card that has streams. False if there was nothing.
static bool stepElsewhere(const Card &card) {
  return std::ranges::any_of(world().cards, [&](Card &other) {
    std::lock_guard lock(other.mutex);
    return &other != &card && step(other);
  });
}

DriverResult carryOut(Stream &stream) {
  Card &card = *stream.card;
  std::unique_lock lock(card.mutex);
  while (!stream.items.empty()) {
    if (step(card))
      continue;
    const bool elsewhere = waitsElsewhere(card);
    if (!elsewhere && !waitsOutside(card))
      std::abort(); // streams wait for one another
    lock.unlock();
    if (!elsewhere || !stepElsewhere(card)) // another thread, or process, is about it
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    lock.lock();
  }
  return card.fault.empty() ? kDone : failed(card);
}

/// What a capture does not allow. It is broken then.
static bool isRefusedByCapture(Stream &stream) {
  std::lock_guard lock(stream.card->mutex);
  if (stream.capture)
    stream.capture->broken = true;
  return stream.capture;
}

DriverResult synchronize(Stream &stream) {
  if (isRefusedByCapture(stream))
    return kNotInCapture;
  const DriverResult result = carryOut(stream);
  std::lock_guard orderLock(world().orderMutex);
  world().order.synchronized(stream.number);
  return result;
}

DriverResult query(Stream &stream) {
  if (isRefusedByCapture(stream))
    return kNotInCapture;
  Card &card = *stream.card;
  std::unique_lock lock(card.mutex);
  while (!stream.items.empty() && (isReady(card, stream.items.front()) || !isOutside(stream)) &&
         step(card))
    ;
  if (!stream.items.empty()) {
    const bool elsewhere = waitsElsewhere(card);
    lock.unlock();
    if (elsewhere)
      stepElsewhere(card);
    return kNotReady;
  }
  std::lock_guard orderLock(world().orderMutex);
  world().order.synchronized(stream.number);
  return card.fault.empty() ? kDone : failed(card);
}

void removeStream(Card &card, Stream &stream) {
  std::lock_guard lock(card.mutex);
  while (!stream.items.empty() && step(card))
    ;
  std::lock_guard orderLock(world().orderMutex);
  world().order.synchronized(stream.number);
  std::erase_if(card.streams, [&](const auto &each) { return each.get() == &stream; });
}

} // namespace lstmc::cuda::emulated
