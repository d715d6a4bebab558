#include "executor/session/Watchdog.h"

#include <algorithm>

#include "executor/session/NonFinite.h"

namespace lstmc::session {

/// Durations that are kept of a launch.
static constexpr size_t kRemembered = 15;

Watchdog::Watchdog(const package::Package &package, const Devices &devices, LaunchWatch watch,
                   std::function<void(const Error &)> end)
    : package_(package), devices_(devices), watch_(std::move(watch)), end_(std::move(end)),
      slots_(devices.size()), seen_(devices.size()), thread_([this] { this->watch(); }) {}

void Watchdog::leave() {
  {
    std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

Watchdog::Stretch::Stretch(Watchdog &watchdog, const BoundEntry &entry, const BoundProgram &program,
                           size_t launch)
    : slot_(watchdog.slots_[program.device]) {
  slot_.entry.store(&entry);
  slot_.program.store(&program);
  slot_.launch.store(launch);
  slot_.before.store(watchdog.devices_[program.device]->launchesBegun());
  slot_.stretch.fetch_add(1);
}

bool Watchdog::watches() const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const Slot &slot) { return slot.stretch.load() % 2 == 1; });
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  for (auto last = Clock::now(); !leaving_;) {
    changed_.wait_for(lock, watch_.tick, [this] { return leaving_; });
    auto now = Clock::now();
    Duration passed = std::min<Duration>(now - last, 2 * watch_.tick);
    last = now;
    bool interrupted = watch_.interrupted && watch_.interrupted();
    for (size_t device = 0; device < slots_.size(); ++device)
      look(device, passed, interrupted);
  }
}

void Watchdog::look(size_t device, Duration passed, bool interrupted) {
  Seen &seen = seen_[device];
  const uint64_t stretch = slots_[device].stretch.load();
  const uint64_t begun = devices_[device]->launchesBegun();
  if (stretch == seen.stretch && begun == seen.begun) {
    if (seen.launch)
      judge(seen, device, passed, interrupted);
    return;
  }
  remember(seen);
  begin(seen, device, stretch, begun);
}

/// Another launch, or none.
void Watchdog::begin(Seen &seen, size_t device, uint64_t stretch, uint64_t begun) const {
  const Slot &slot = slots_[device];
  seen = {};
  seen.stretch = stretch;
  seen.begun = begun;
  if (stretch % 2 == 0)
    return;
  const BoundEntry &entry = *slot.entry.load();
  const std::vector<package::Launch> &launches = slot.program.load()->source->launches;
  const uint64_t before = slot.before.load();
  const size_t at = slot.launch.load() + std::max<uint64_t>(begun, before + 1) - before - 1;
  // What was read is of one stretch only if that is still under way.
  if (slot.stretch.load() != stretch || at >= launches.size())
    return;
  seen.launch = &launches[at];
  seen.entry = &entry;
  seen.at = at;
}

void Watchdog::remember(const Seen &seen) {
  if (!seen.launch || seen.elapsed < 2 * watch_.tick)
    return;
  std::vector<Duration> &durations = usual_[seen.launch];
  if (durations.size() == kRemembered)
    durations.erase(durations.begin());
  durations.push_back(seen.elapsed);
}

Watchdog::Duration Watchdog::deadlineOf(const package::Launch &launch) const {
  auto found = usual_.find(&launch);
  if (found == usual_.end())
    return watch_.ended;
  std::vector<Duration> sorted = found->second;
  std::nth_element(sorted.begin(), sorted.begin() + long(sorted.size() / 2), sorted.end());
  return std::max<Duration>(watch_.ended, watch_.timesMedian * sorted[sorted.size() / 2]);
}

static double inSeconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

Error Watchdog::late(const Seen &seen, size_t device, std::string_view consequence) const {
  return failAt(placeOf(package_.location(seen.launch->location)), ErrorCode::E0802,
                "{} has been at launch {} of {}, {}, for {:.3g} s; {}", devices_[device]->name(),
                seen.at, seen.entry->name, opText(package_.data(), *seen.launch),
                inSeconds(seen.elapsed), consequence);
}

void Watchdog::judge(Seen &seen, size_t device, Duration passed, bool interrupted) {
  auto tell = [](const std::function<void(const Error &)> &whom, const Error &error) {
    if (whom)
      whom(error);
  };
  seen.elapsed += passed;
  seen.sinceInterrupt += interrupted ? passed : Duration();
  seen.sinceEnd += seen.ended ? passed : Duration();
  const Duration deadline = deadlineOf(*seen.launch);
  const bool hurried = seen.sinceInterrupt >= watch_.grace;
  if (!seen.named && seen.elapsed >= watch_.named) {
    seen.named = true;
    tell(watch_.notice,
         late(seen, device, fmt::format("the run ends when it takes {:g} s", inSeconds(deadline))));
  }
  if (!seen.ended && (hurried || seen.elapsed >= deadline)) {
    seen.ended = true;
    tell(end_,
         late(seen, device,
              hurried ? "the process is to end, and waits no longer" : "the run is given up"));
  }
  if (!seen.abandoned && seen.ended && seen.sinceEnd >= watch_.grace) {
    seen.abandoned = true;
    tell(watch_.abandon, late(seen, device, "it cannot be ended, so the process is"));
  }
}

} // namespace lstmc::session
