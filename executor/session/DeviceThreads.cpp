#include "executor/session/DeviceThreads.h"

#include <algorithm>
#include <exception>
#include <new>

#include "executor/device/ThreadTeam.h"
#include "executor/session/NonFinite.h"

namespace lstmc::session {

/// The end that a device waits for at a segment.
static MessageEnd peerOf(const Segment &segment, const Message &message) {
  return segment.kind == Segment::Kind::Await ? message.receive : message.send;
}

static bool crowded(const Devices &devices) {
  int threads = 0;
  for (const std::unique_ptr<Device> &device : devices)
    threads += device->threads();
  return threads > availableProcessors();
}

DeviceThreads::DeviceThreads(const package::Package &package, const Devices &devices,
                             std::chrono::milliseconds deadline, DeviceHook hook)
    : package_(package), devices_(devices), deadline_(deadline), hook_(std::move(hook)),
      states_(devices.size()) {
  for (size_t device = 0; device < devices.size(); ++device)
    parkers_.emplace_back(crowded(devices));
  try {
    for (size_t device = 1; device < devices.size(); ++device)
      threads_.emplace_back([this, device] { serve(device); });
  } catch (...) {
    leave();
    throw;
  }
}

DeviceThreads::~DeviceThreads() { leave(); }

void DeviceThreads::leave() {
  leaving_ = true;
  round_.fetch_add(1);
  announceToAll();
  for (std::thread &thread : threads_)
    thread.join();
}

void DeviceThreads::serve(size_t device) {
  for (uint64_t round = 0;;) {
    parkers_[device].await([&] { return round_.load() != round; });
    round = round_.load();
    if (leaving_)
      return;
    carryOut(device);
    finish(device, round);
    // The first may hang with nobody waiting for what it sends.
    auto over = [&] {
      return states_[0].finished.load() == round || round_.load() != round || stopped_.load();
    };
    if (!awaitWhileProgress(device, over, [&] { return states_[0].waits.load(); }))
      stopFirst(device, round);
  }
}

void DeviceThreads::finish(size_t device, uint64_t round) {
  states_[device].finished.store(round);
  states_[device].progress.fetch_add(1);
  if (device == 0)
    announceToAll();
  else
    parkers_[0].announce();
}

void DeviceThreads::announceToAll() {
  for (Parker &parker : parkers_)
    parker.announce();
}

Status DeviceThreads::run(BoundEntry &entry, Part part) { return round(&entry, part, nullptr); }

Status DeviceThreads::each(const std::function<void(size_t)> &work) {
  return round(nullptr, Part::All, &work);
}

Status DeviceThreads::round(BoundEntry *entry, Part part, const std::function<void(size_t)> *work) {
  {
    std::lock_guard lock(errorMutex_); // stopFirst looks at these
    entry_ = entry;
    work_ = work;
    part_ = part;
    error_.reset();
    stopped_.store(false);
    for (DeviceState &state : states_)
      state.segment.store(kNotBegun);
    round_.fetch_add(1);
  }
  announceToAll();
  carryOut(0);
  {
    std::lock_guard lock(errorMutex_);
    finish(0, round_.load());
  }
  auto allAreBack = [this] { return allBack(); };
  auto allWait = [this] {
    const BoundProgram *program = unfinished();
    return !program || states_[program->device].waits.load();
  };
  if (!awaitWhileProgress(0, allAreBack, allWait)) {
    stopUnfinished();
    // What they work on is ours and lives on only while we wait.
    parkers_[0].await(allAreBack);
  }
  std::lock_guard lock(errorMutex_);
  return error_ ? Status(*error_) : Status();
}

uint64_t DeviceThreads::progress() const {
  uint64_t sum = 0;
  for (const DeviceState &state : states_)
    sum += state.progress.load();
  return sum;
}

template <typename Ready, typename Blocked>
bool DeviceThreads::awaitWhileProgress(size_t device, Ready ready, Blocked blocked) {
  // In two halves: after the process was suspended the first is over, and nobody has got on.
  constexpr int kParts = 2;
  int quiet = 0;
  for (uint64_t seen = progress();
       !parkers_[device].await(ready, Parker::Clock::now() + deadline_ / kParts);) {
    uint64_t now = progress();
    quiet = now == seen && !watchdog_->watches() ? quiet + 1 : 0;
    if (quiet >= (blocked() ? 3 * kParts : kParts))
      return false;
    seen = now;
  }
  return true;
}

const BoundProgram *DeviceThreads::unfinished() const {
  const BoundProgram *found = nullptr;
  if (!entry_)
    return nullptr;
  for (const BoundProgram &program : entry_->programs) {
    const DeviceState &state = states_[program.device];
    if (state.finished.load() != round_.load() && (!found || !state.waits.load()))
      found = &program;
  }
  return found;
}

bool DeviceThreads::allBack() const {
  return std::all_of(states_.begin() + 1, states_.end(), [this](const DeviceState &state) {
    return state.finished.load() == round_.load();
  });
}

const BoundProgram *DeviceThreads::programOf(size_t device) const {
  if (!entry_)
    return nullptr;
  for (const BoundProgram &program : entry_->programs)
    if (program.device == device)
      return &program;
  return nullptr;
}

void DeviceThreads::carryOut(size_t device) {
  if (work_)
    return (*work_)(device);
  const BoundProgram *program = programOf(device);
  if (!program)
    return;
  try {
    carryOut(*program);
  } catch (const std::bad_alloc &) {
    stopThrown(*program, ErrorCode::E0901, "out of memory");
  } catch (const std::exception &exception) {
    stopThrown(*program, ErrorCode::E0803, exception.what());
  } catch (...) {
    stopThrown(*program, ErrorCode::E0803, "unknown exception");
  }
}

void DeviceThreads::carryOut(const BoundProgram &program) {
  Device &device = *devices_[program.device];
  for (size_t s = program.firstSegment(part_); s < program.lastSegment(part_); ++s) {
    const Segment &segment = program.segments[s];
    states_[program.device].segment.store(s);
    states_[program.device].progress.fetch_add(1);
    if (hook_ && segment.kind != Segment::Kind::Await)
      hook_({program.device, entry_->name, segment.launch, stopped_});
    if (stopped_.load())
      return;
    if (segment.kind == Segment::Kind::Launches) {
      Watchdog::Stretch stretch(*watchdog_, *entry_, program, segment.launch);
      device.run(*program.launches, segment.first, segment.last, program.timesFrom(segment.launch));
      continue;
    }
    Message &message = *entry_->messages[segment.message];
    if (segment.kind == Segment::Kind::Send) {
      if (LaunchInterval *time = program.timesFrom(segment.launch))
        time->begin = time->end = LaunchInterval::Clock::now();
      message.offered.store(round_.load());
      parkers_[deviceOf(message.receive)].announce();
      continue;
    }
    if (!await(program, segment, message))
      return;
    if (segment.kind == Segment::Kind::Receive) {
      Watchdog::Stretch stretch(*watchdog_, *entry_, program, segment.launch);
      device.run(*program.launches, segment.first, segment.last, program.timesFrom(segment.launch));
      message.taken.store(round_.load());
      parkers_[deviceOf(message.send)].announce();
    }
  }
}

bool DeviceThreads::await(const BoundProgram &program, const Segment &segment, Message &message) {
  // All devices came together at the end of the part before.
  if (segment.kind == Segment::Kind::Await && message.send.segment < program.firstSegment(part_))
    return true;
  const std::atomic<uint64_t> &other =
      segment.kind == Segment::Kind::Await ? message.taken : message.offered;
  const uint64_t round = round_.load();
  auto met = [&] { return other.load() == round; };
  const size_t peer = deviceOf(peerOf(segment, message));
  std::atomic<bool> &waits = states_[program.device].waits;
  waits.store(true);
  bool answered = awaitWhileProgress(
      program.device, [&] { return met() || stopped_.load(); },
      [&] { return states_[peer].waits.load(); });
  if (!answered)
    stopLate(program, segment, message);
  waits.store(false);
  return answered && met();
}

// ---- errors ----

void DeviceThreads::stop(Error error) {
  std::lock_guard lock(errorMutex_);
  stopLocked(std::move(error));
}

void DeviceThreads::stopLocked(Error error) {
  if (!error_)
    error_ = std::move(error);
  stopped_.store(true);
  announceToAll();
}

static double inSeconds(std::chrono::milliseconds time) { return double(time.count()) / 1000; }

void DeviceThreads::stopLate(const BoundProgram &program, const Segment &segment,
                             const Message &message) {
  const BoundProgram &peer = entry_->programs[peerOf(segment, message).program];
  stop(failAt(placeOf(program, segment), ErrorCode::E0802, "{} waited {:g} s at {} for {}; {}",
              nameOf(program), inSeconds(deadline_), segmentText(program, segment), nameOf(peer),
              whereabouts(peer)));
}

Error DeviceThreads::lateEnd(size_t waiting, const BoundProgram &program) const {
  size_t at = states_[program.device].segment.load();
  Place place = at == kNotBegun ? Place() : placeOf(program, program.segments[at]);
  return failAt(place, ErrorCode::E0802, "{} waited {:g} s for {} to end {}; {}",
                devices_[waiting]->name(), inSeconds(deadline_), nameOf(program), entry_->name,
                whereabouts(program));
}

void DeviceThreads::stopUnfinished() {
  if (const BoundProgram *program = unfinished())
    stop(lateEnd(0, *program));
}

void DeviceThreads::stopFirst(size_t waiting, uint64_t round) {
  // While we hold this, run() comes neither to its end nor to another round.
  std::lock_guard lock(errorMutex_);
  const BoundProgram *program = round_.load() == round ? programOf(0) : nullptr;
  if (program && states_[0].finished.load() != round)
    stopLocked(lateEnd(waiting, *program));
}

void DeviceThreads::stopThrown(const BoundProgram &program, ErrorCode code, std::string_view what) {
  const Segment &segment = program.segments[states_[program.device].segment.load()];
  stop(failAt(placeOf(program, segment), code, "{} failed at {}: {}", nameOf(program),
              segmentText(program, segment), what));
}

std::string DeviceThreads::segmentText(const BoundProgram &program, const Segment &segment) const {
  std::string op = opText(package_.data(), program.source->launches[segment.launch]);
  size_t more = segment.last - segment.first;
  switch (segment.kind) {
  case Segment::Kind::Send:
    return fmt::format("send of message {} of {}, {}", entry_->messages[segment.message]->number,
                       entry_->name, op);
  case Segment::Kind::Receive:
    return fmt::format("receive of message {} of {}, {}", entry_->messages[segment.message]->number,
                       entry_->name, op);
  case Segment::Kind::Await:
    return fmt::format("launch {} of {}, {}, which writes over message {}", segment.launch,
                       entry_->name, op, entry_->messages[segment.message]->number);
  case Segment::Kind::Launches:
    break;
  }
  if (more == 1)
    return fmt::format("launch {} of {}, {}", segment.launch, entry_->name, op);
  return fmt::format("launches {} to {} of {}, from {} on", segment.launch,
                     segment.launch + more - 1, entry_->name, op);
}

std::string DeviceThreads::whereabouts(const BoundProgram &program) const {
  size_t at = states_[program.device].segment.load();
  if (at == kNotBegun)
    return nameOf(program) + " had not begun";
  return fmt::format("{} was at {}", nameOf(program), segmentText(program, program.segments[at]));
}

Place DeviceThreads::placeOf(const BoundProgram &program, const Segment &segment) const {
  return session::placeOf(package_.location(program.source->launches[segment.launch].location));
}

} // namespace lstmc::session
