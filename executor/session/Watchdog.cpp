#include "executor/session/Watchdog.h"

#include <algorithm>

#include "executor/base/Quote.h"
#include "executor/session/NonFinite.h"
#include "executor/session/RemoteDevice.h"
#include "executor/session/SegmentText.h"

namespace lstmc::session {

/// Number of durations kept per launch.
static constexpr size_t kRemembered = 15;
/// Ticks without work before the watchdog sleeps: calls in a row do not wake it each time.
static constexpr int kIdleTicks = 4;

Watchdog::Watchdog(const package::Package &package, const Devices &devices, LaunchWatch watch,
                   std::chrono::milliseconds deadline, std::function<void(const Error &)> end)
    : package_(package), devices_(devices), watch_(std::move(watch)), deadline_(deadline),
      tick_(std::max<Duration>(std::min<Duration>(watch_.tick, Duration(deadline) / 2),
                               std::chrono::milliseconds(1))),
      end_(std::move(end)), slots_(devices.size()), seen_(devices.size()),
      thread_([this] { this->watch(); }) {}

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
  slot_.alone.store(nullptr);
  slot_.before.store(watchdog.devices_[program.device]->launchesBegun());
  slot_.stretch.fetch_add(1);
  watchdog.wake();
}

Watchdog::Stretch::Stretch(Watchdog &watchdog, size_t device, const package::Launch &alone)
    : slot_(watchdog.slots_[device]) {
  slot_.alone.store(&alone);
  slot_.before.store(watchdog.devices_[device]->launchesBegun());
  slot_.stretch.fetch_add(1);
  watchdog.wake();
}

void Watchdog::expect(const BoundEntry &entry) {
  for (const BoundProgram &program : entry.programs) {
    if (isRemote(*devices_[program.device]))
      continue;
    Slot &slot = slots_[program.device];
    slot.entry.store(&entry);
    slot.program.store(&program);
    slot.segment.store(kNone);
    slot.progress.fetch_add(1);
    slot.works.store(true);
  }
  wake();
}

void Watchdog::at(size_t device, size_t segment) {
  slots_[device].segment.store(segment);
  slots_[device].progress.fetch_add(1);
}

void Watchdog::done(size_t device) {
  slots_[device].works.store(false);
  slots_[device].progress.fetch_add(1);
}

void Watchdog::watch() {
  std::unique_lock lock(mutex_);
  int idle = 0;
  for (auto last = Clock::now(); !leaving_;) {
    changed_.wait_for(lock, tick_, [this] { return leaving_; });
    idle = isIdle() ? idle + 1 : 0;
    if (idle > kIdleTicks)
      sleep(lock);
    auto now = Clock::now();
    Duration passed = std::min<Duration>(now - last, 2 * tick_);
    last = now;
    bool interrupted = watch_.interrupted && watch_.interrupted();
    for (size_t device = 0; device < slots_.size(); ++device)
      look(device, passed, interrupted);
    lookForStall(passed);
  }
}

bool Watchdog::isIdle() const {
  return std::ranges::all_of(
      slots_, [](const Slot &slot) { return slot.stretch.load() % 2 == 0 && !slot.works.load(); });
}

void Watchdog::sleep(std::unique_lock<std::mutex> &lock) {
  // All sequentially consistent: either what begins sees that the watchdog sleeps, or isIdle() sees
  // what has begun.
  asleep_.store(true);
  if (isIdle())
    changed_.wait(lock, [this] { return leaving_ || !asleep_.load(); });
  asleep_.store(false);
}

void Watchdog::wakeSleeper() {
  {
    std::lock_guard lock(mutex_);
    asleep_.store(false);
  }
  changed_.notify_all();
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

/// The device runs another launch, or none.
void Watchdog::begin(Seen &seen, size_t device, uint64_t stretch, uint64_t begun) const {
  const Slot &slot = slots_[device];
  seen = {};
  seen.stretch = stretch;
  seen.begun = begun;
  if (stretch % 2 == 0)
    return;
  if (const package::Launch *alone = slot.alone.load()) {
    if (slot.stretch.load() == stretch)
      seen.launch = alone;
    return;
  }
  const BoundEntry &entry = *slot.entry.load();
  const std::vector<package::Launch> &launches = slot.program.load()->source->launches;
  const uint64_t before = slot.before.load();
  const size_t at = slot.launch.load() + std::max<uint64_t>(begun, before + 1) - before - 1;
  // The values read belong together only if the same launches still run.
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

std::string Watchdog::nameOf(const Seen &seen) const {
  if (seen.entry)
    return fmt::format("launch {} of {}, {}", seen.at, seen.entry->name,
                       opText(package_.data(), *seen.launch));
  for (const package::Parameter &parameter : package_.data().parameters)
    if (&parameter.initialise == seen.launch)
      return fmt::format("the initial values of {}", inQuotes(parameter.name));
  return "initial values";
}

Error Watchdog::late(const Seen &seen, size_t device, std::string_view consequence) const {
  return failAt(placeOf(package_.location(seen.launch->location)), ErrorCode::E0802,
                "{} has been at {}, for {:.3g} s; {}", devices_[device]->name(), nameOf(seen),
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

// ---- waiting devices ----

uint64_t Watchdog::progress() const {
  uint64_t sum = 0;
  for (const Slot &slot : slots_)
    sum += slot.progress.load();
  return elsewhere_ ? sum + elsewhere_() : sum;
}

void Watchdog::elsewhere(std::function<uint64_t()> progress) {
  std::lock_guard lock(mutex_);
  elsewhere_ = std::move(progress);
}

/// For a message that is not through yet.
bool Watchdog::waits(const Slot &slot) const {
  if (slot.waitsFor.load() == kNone)
    return false;
  const size_t message = slot.message.load();
  return !isThrough_ || !isThrough_(message / 2, message % 2 == 1);
}

Standing Watchdog::standing() {
  Standing standing;
  bool works = false, waits = true, launches = false;
  for (size_t device = 0; device < slots_.size(); ++device) {
    const Slot &slot = slots_[device];
    const uint64_t progress = slot.progress.load();
    standing.progress += progress;
    launches = launches || slot.stretch.load() % 2 == 1;
    if (!slot.works.load())
      continue;
    const BoundEntry *entry = slot.entry.load();
    const BoundProgram *program = slot.program.load();
    const size_t at = slot.segment.load();
    const bool first = !works, waitsItself = this->waits(slot);
    works = true;
    waits = waits && waitsItself;
    // What was read is of one part only if that has not ended.
    if (at == kNone || !slot.works.load() || slot.progress.load() != progress)
      continue;
    // Who waits for nobody says more than who does.
    if (first || !waitsItself)
      standing.place = placeText(device, *entry, *program, program->segments[at]);
  }
  if (works || launches)
    standing.at = waits && !launches ? Standing::At::Wait : Standing::At::Run;
  standing.progress += launches ? busy_.fetch_add(1) + 1 : busy_.load();
  return standing;
}

std::string Watchdog::placeText(size_t device, const BoundEntry &entry, const BoundProgram &program,
                                const Segment &segment) const {
  const Place place = placeOf(package_, program, segment);
  const std::string text = fmt::format("{} was at {}", devices_[device]->name(),
                                       segmentText(package_, entry, program, segment));
  return place.line > 0 ? fmt::format("{}, at {}:{}", text, place.file, place.line) : text;
}

void Watchdog::lookForStall(Duration passed) {
  const uint64_t now = progress();
  auto inLaunch = [](const Slot &slot) { return slot.stretch.load() % 2 == 1; };
  if (now != seenProgress_ || std::ranges::any_of(slots_, inLaunch)) {
    seenProgress_ = now;
    quiet_ = {};
    return;
  }
  const bool told = quiet_ >= deadline_;
  quiet_ += passed;
  if (told || quiet_ < deadline_)
    return;
  if (auto found = stalled()) {
    Error error = stall(found->first, found->second);
    if (progress() == now)
      end_(error);
  }
}

std::optional<std::pair<size_t, size_t>> Watchdog::stalled() const {
  std::optional<std::pair<size_t, size_t>> found; // any pair
  std::optional<size_t> working;
  for (size_t device = 0; device < slots_.size(); ++device) {
    const size_t peer = slots_[device].waitsFor.load();
    if (peer == kNone && slots_[device].works.load() && !working)
      working = device;
    if (peer == kNone || (found && slots_[peer].waitsFor.load() != kNone))
      continue;
    found = {device, peer};
    if (slots_[peer].waitsFor.load() == kNone)
      return found;
  }
  if (found || !working)
    return found;
  // No device waits for a message, so all others, or at least the first, have finished.
  return std::pair(*working == 0 ? size_t(1) : size_t(0), *working);
}

Error Watchdog::stall(size_t waiting, size_t late) const {
  const Slot &slot = slots_[waiting], &other = slots_[late];
  const size_t at = slot.segment.load();
  if (slot.waitsFor.load() != kNone && at != kNone) {
    const BoundProgram &program = *slot.program.load();
    const Segment &segment = program.segments[at];
    return failAt(placeOf(package_, program, segment), ErrorCode::E0802,
                  "{} waited {:g} s at {} for {}; {}", devices_[waiting]->name(),
                  inSeconds(deadline_), segmentText(package_, *slot.entry.load(), program, segment),
                  devices_[late]->name(), whereabouts(late));
  }
  const size_t lateAt = other.segment.load();
  const BoundProgram &program = *other.program.load();
  return failAt(lateAt == kNone ? Place() : placeOf(package_, program, program.segments[lateAt]),
                ErrorCode::E0802, "{} waited {:g} s for {} to end {}; {}",
                devices_[waiting]->name(), inSeconds(deadline_), devices_[late]->name(),
                other.entry.load()->name, whereabouts(late));
}

std::string Watchdog::whereabouts(size_t device) const {
  const Slot &slot = slots_[device];
  const size_t at = slot.segment.load();
  if (isRemote(*devices_[device]))
    return devices_[device]->name() + " is a device of another rank";
  if (at == kNone)
    return devices_[device]->name() + " had not begun";
  const BoundProgram &program = *slot.program.load();
  return fmt::format("{} was at {}", devices_[device]->name(),
                     segmentText(package_, *slot.entry.load(), program, program.segments[at]));
}

} // namespace lstmc::session
