#include "executor/session/DeviceThreads.h"

#include <algorithm>
#include <exception>
#include <new>

#include "executor/device/ThreadTeam.h"
#include "executor/session/NonFinite.h"

namespace lstmc::session {

/// The end that a device waits for at a step.
static MessageEnd peerOf(const Step &step, const Message &message) {
  return step.kind == Step::Kind::Await ? message.receive : message.send;
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
      seats_(devices.size()) {
  for (size_t device = 0; device < devices.size(); ++device)
    rooms_.emplace_back(crowded(devices));
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
    rooms_[device].await([&] { return round_.load() != round; });
    round = round_.load();
    if (leaving_)
      return;
    carryOut(device);
    finish(device, round);
    // The first may hang with nobody waiting for what it sends.
    auto over = [&] {
      return seats_[0].finished.load() == round || round_.load() != round || stopped_.load();
    };
    if (!awaitWhileProgress(device, over, [&] { return seats_[0].waits.load(); }))
      stopFirst(device, round);
  }
}

void DeviceThreads::finish(size_t device, uint64_t round) {
  seats_[device].finished.store(round);
  seats_[device].progress.fetch_add(1);
  if (device == 0)
    announceToAll();
  else
    rooms_[0].announce();
}

void DeviceThreads::announceToAll() {
  for (WaitingRoom &room : rooms_)
    room.announce();
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
    for (Seat &seat : seats_)
      seat.step.store(kNotBegun);
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
    return !program || seats_[program->device].waits.load();
  };
  if (!awaitWhileProgress(0, allAreBack, allWait)) {
    stopUnfinished();
    // What they work on is ours and lives on only while we wait.
    rooms_[0].await(allAreBack);
  }
  std::lock_guard lock(errorMutex_);
  return error_ ? Status(*error_) : Status();
}

uint64_t DeviceThreads::progress() const {
  uint64_t sum = 0;
  for (const Seat &seat : seats_)
    sum += seat.progress.load();
  return sum;
}

template <typename Ready, typename Blocked>
bool DeviceThreads::awaitWhileProgress(size_t device, Ready ready, Blocked blocked) {
  // In two halves: after the process was suspended the first is over, and nobody has got on.
  constexpr int kParts = 2;
  int quiet = 0;
  for (uint64_t seen = progress();
       !rooms_[device].await(ready, WaitingRoom::Clock::now() + deadline_ / kParts);) {
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
    const Seat &seat = seats_[program.device];
    if (seat.finished.load() != round_.load() && (!found || !seat.waits.load()))
      found = &program;
  }
  return found;
}

bool DeviceThreads::allBack() const {
  return std::all_of(seats_.begin() + 1, seats_.end(),
                     [this](const Seat &seat) { return seat.finished.load() == round_.load(); });
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
  for (size_t s = program.firstStep(part_); s < program.lastStep(part_); ++s) {
    const Step &step = program.steps[s];
    seats_[program.device].step.store(s);
    seats_[program.device].progress.fetch_add(1);
    if (hook_ && step.kind != Step::Kind::Await)
      hook_({program.device, entry_->name, step.launch, stopped_});
    if (stopped_.load())
      return;
    if (step.kind == Step::Kind::Launches) {
      Watchdog::Stretch stretch(*watchdog_, *entry_, program, step.launch);
      device.run(*program.launches, step.first, step.last, program.timesFrom(step.launch));
      continue;
    }
    Message &message = *entry_->messages[step.message];
    if (step.kind == Step::Kind::Send) {
      if (LaunchInterval *time = program.timesFrom(step.launch))
        time->begin = time->end = LaunchInterval::Clock::now();
      message.offered.store(round_.load());
      rooms_[deviceOf(message.receive)].announce();
      continue;
    }
    if (!await(program, step, message))
      return;
    if (step.kind == Step::Kind::Receive) {
      Watchdog::Stretch stretch(*watchdog_, *entry_, program, step.launch);
      device.run(*program.launches, step.first, step.last, program.timesFrom(step.launch));
      message.taken.store(round_.load());
      rooms_[deviceOf(message.send)].announce();
    }
  }
}

bool DeviceThreads::await(const BoundProgram &program, const Step &step, Message &message) {
  // All devices came together at the end of the part before.
  if (step.kind == Step::Kind::Await && message.send.step < program.firstStep(part_))
    return true;
  const std::atomic<uint64_t> &other =
      step.kind == Step::Kind::Await ? message.taken : message.offered;
  const uint64_t round = round_.load();
  auto met = [&] { return other.load() == round; };
  const size_t peer = deviceOf(peerOf(step, message));
  std::atomic<bool> &waits = seats_[program.device].waits;
  waits.store(true);
  bool answered = awaitWhileProgress(
      program.device, [&] { return met() || stopped_.load(); },
      [&] { return seats_[peer].waits.load(); });
  if (!answered)
    stopLate(program, step, message);
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

void DeviceThreads::stopLate(const BoundProgram &program, const Step &step,
                             const Message &message) {
  const BoundProgram &peer = entry_->programs[peerOf(step, message).program];
  stop(failAt(placeOf(program, step), ErrorCode::E0802, "{} waited {:g} s at {} for {}; {}",
              nameOf(program), inSeconds(deadline_), stepText(program, step), nameOf(peer),
              whereabouts(peer)));
}

Error DeviceThreads::lateEnd(size_t waiting, const BoundProgram &program) const {
  size_t at = seats_[program.device].step.load();
  Place place = at == kNotBegun ? Place() : placeOf(program, program.steps[at]);
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
  if (program && seats_[0].finished.load() != round)
    stopLocked(lateEnd(waiting, *program));
}

void DeviceThreads::stopThrown(const BoundProgram &program, ErrorCode code, std::string_view what) {
  const Step &step = program.steps[seats_[program.device].step.load()];
  stop(failAt(placeOf(program, step), code, "{} failed at {}: {}", nameOf(program),
              stepText(program, step), what));
}

std::string DeviceThreads::stepText(const BoundProgram &program, const Step &step) const {
  std::string op = opText(package_.data(), program.source->launches[step.launch]);
  size_t more = step.last - step.first;
  switch (step.kind) {
  case Step::Kind::Send:
    return fmt::format("send of message {} of {}, {}", entry_->messages[step.message]->number,
                       entry_->name, op);
  case Step::Kind::Receive:
    return fmt::format("receive of message {} of {}, {}", entry_->messages[step.message]->number,
                       entry_->name, op);
  case Step::Kind::Await:
    return fmt::format("launch {} of {}, {}, which writes over message {}", step.launch,
                       entry_->name, op, entry_->messages[step.message]->number);
  case Step::Kind::Launches:
    break;
  }
  if (more == 1)
    return fmt::format("launch {} of {}, {}", step.launch, entry_->name, op);
  return fmt::format("launches {} to {} of {}, from {} on", step.launch, step.launch + more - 1,
                     entry_->name, op);
}

std::string DeviceThreads::whereabouts(const BoundProgram &program) const {
  size_t at = seats_[program.device].step.load();
  if (at == kNotBegun)
    return nameOf(program) + " had not begun";
  return fmt::format("{} was at {}", nameOf(program), stepText(program, program.steps[at]));
}

Place DeviceThreads::placeOf(const BoundProgram &program, const Step &step) const {
  return session::placeOf(package_.location(program.source->launches[step.launch].location));
}

} // namespace lstmc::session
