#include "backends/trap/runtime/Shuffle.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <random>
#include <utility>
#include <vector>

namespace lstmc::trap {

namespace {

/// What a stream was given: a launch, an event to record, or one to wait for.
struct Item {
  enum class Kind : uint8_t { Launch, Record, Wait };
  Kind kind;
  PreparedProgram *program = nullptr;
  size_t launch = 0;
  LaunchInterval *time = nullptr;
  uint32_t event = 0;
  uint64_t count = 0; ///< how often the event has to have been recorded
};

class ShuffleDevice final : public Device {
public:
  ShuffleDevice(std::unique_ptr<Device> host, uint64_t seed)
      : host_(std::move(host)), random_(seed) {}

  const std::string &name() const override { return host_->name(); }
  uint64_t memoryBytes() const override { return host_->memoryBytes(); }
  int threads() const override { return host_->threads(); }
  Status allocate(uint64_t bytes) override { return host_->allocate(bytes); }
  std::byte *arena() const override { return host_->arena(); }
  uint64_t touchedBytes() const override { return host_->touchedBytes(); }
  Result<std::unique_ptr<PreparedProgram>> prepare(std::vector<LaunchSpec> launches) override {
    return host_->prepare(std::move(launches));
  }

  Status reserve(uint32_t streams, uint32_t events) override {
    streams_.resize(std::max<size_t>(streams_.size(), streams));
    given_.resize(std::max<size_t>(given_.size(), events));
    recorded_.resize(given_.size());
    return {};
  }
  void launch(uint32_t stream, PreparedProgram &program, size_t first, size_t last,
              LaunchInterval *times) override {
    for (size_t i = first; i < last; ++i)
      give(stream, {.kind = Item::Kind::Launch,
                    .program = &program,
                    .launch = i,
                    .time = times ? times + (i - first) : nullptr});
  }
  void record(uint32_t stream, uint32_t event) override {
    give(stream, {.kind = Item::Kind::Record, .event = event, .count = ++given_[event]});
  }
  void wait(uint32_t stream, uint32_t event) override {
    give(stream, {.kind = Item::Kind::Wait, .event = event, .count = given_[event]});
  }
  void synchronize(uint32_t stream) override {
    while (stream < streams_.size() && !streams_[stream].empty())
      step();
  }
  void finish() override {
    for (uint32_t stream = 0; stream < streams_.size(); ++stream)
      synchronize(stream);
  }

  uint64_t launchesBegun() const override { return host_->launchesBegun(); }
  void stop(bool stopped) override { host_->stop(stopped); }
  bool hostVisible() const override { return host_->hostVisible(); }
  void copyIn(uint64_t offset, std::span<const std::byte> from) override {
    host_->copyIn(offset, from);
  }
  void copyOut(uint64_t offset, std::span<std::byte> to) const override {
    host_->copyOut(offset, to);
  }
  void clear(uint64_t offset, uint64_t bytes) override { host_->clear(offset, bytes); }
  bool reaches(const Device &other) const override { return host_->reaches(other); }

private:
  void give(uint32_t stream, Item item) {
    streams_.resize(std::max<size_t>(streams_.size(), stream + 1));
    streams_[stream].push_back(item);
    while (random_() % 4 == 0 && step())
      ;
  }

  bool ready(const Item &item) const {
    return item.kind != Item::Kind::Wait || recorded_[item.event] >= item.count;
  }

  /// Carries out the next item of one of the streams that have one that is ready. False when none
  /// has anything to do.
  bool step() {
    std::vector<size_t> ready;
    bool any = false;
    for (size_t stream = 0; stream < streams_.size(); ++stream) {
      any |= !streams_[stream].empty();
      if (!streams_[stream].empty() && this->ready(streams_[stream].front()))
        ready.push_back(stream);
    }
    if (!any)
      return false;
    if (ready.empty())
      std::abort(); // streams wait for one another
    std::deque<Item> &stream = streams_[ready[random_() % ready.size()]];
    const Item item = stream.front();
    stream.pop_front();
    if (item.kind == Item::Kind::Launch)
      host_->run(*item.program, item.launch, item.launch + 1, item.time);
    else if (item.kind == Item::Kind::Record)
      recorded_[item.event] = item.count;
    return true;
  }

  std::unique_ptr<Device> host_;
  std::mt19937_64 random_;
  std::vector<std::deque<Item>> streams_;
  std::vector<uint64_t> given_, recorded_; ///< by event: how often
};

} // namespace

std::unique_ptr<Device> makeShuffleDevice(std::unique_ptr<Device> host, uint64_t seed) {
  return std::make_unique<ShuffleDevice>(std::move(host), seed);
}

} // namespace lstmc::trap
