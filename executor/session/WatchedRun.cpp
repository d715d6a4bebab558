#include "executor/session/WatchedRun.h"

#include <stdexcept>

#include <sched.h>

#include "executor/session/Binding.h"
#include "executor/session/Findings.h"
#include "executor/session/SegmentText.h"

namespace lstmc::session {

bool WatchedRun::run(const BoundEntry &entry, Part part) {
  if (carryOut(entry, part))
    return true;
  if (inJob_ || !found_) // all launches have run, or an op refused an index
    return false;
  // From commit on, the launches that are left.
  if (part == Part::BeforeCommit)
    findEarlier(entry, part);
  return false;
}

void WatchedRun::findEarlier(const BoundEntry &entry, Part part) {
  const Found first = std::move(*found_);
  for (size_t index = 0; index < first.program; ++index) {
    const BoundProgram &program = entry.programs[index];
    const size_t &next = next_[index]; // advance() changes it
    bool well = true;
    while (well && next < program.lastSegment(part) &&
           program.segments[next].kind != Segment::Kind::Receive)
      well = advance(entry, index, next + 1);
    if (!well && found_->launch->location == first.launch->location)
      return;
  }
  found_ = first;
}

bool WatchedRun::carryOut(const BoundEntry &entry, Part part) {
  transport_.begin();
  next_.clear();
  for (const BoundProgram &program : entry.programs)
    next_.push_back(program.firstSegment(part));
  auto within = [&](MessageEnd end) {
    const BoundProgram &program = entry.programs[end.program];
    return end.segment >= program.firstSegment(part) && end.segment < program.lastSegment(part);
  };
  for (const BoundMessage &message : entry.messages)
    if (within(message.send))
      for (MessageEnd end : {message.send, message.receive})
        if (!advance(entry, end.program, end.segment + 1))
          return false;
  for (size_t program = 0; program < entry.programs.size(); ++program)
    if (!advance(entry, program, entry.programs[program].lastSegment(part)))
      return false;
  return !found_;
}

bool WatchedRun::awaitArrival(MessageId message) const {
  for (int looks = 0; !transport_.arrived(message) && !transport_.aborted().load();)
    if (!transport_.help(looks))
      sched_yield();
  return !transport_.aborted().load();
}

/// By the number of the next message of the program, as carryOut() goes; then by program and
/// launch.
int64_t WatchedRun::order(const BoundEntry &entry) const {
  const BoundProgram &program = entry.programs[found_->program];
  int64_t message = (int64_t(1) << 30) - 1;
  for (const Segment &segment : program.segments)
    if (segment.launch > found_->index &&
        (segment.kind == Segment::Kind::Send || segment.kind == Segment::Kind::Receive))
      message = std::min(message, entry.messages[segment.message].message.number);
  return (message << 32) + (int64_t(found_->program) << 24) +
         std::min<int64_t>(int64_t(found_->index), (1 << 24) - 1);
}

bool WatchedRun::advance(const BoundEntry &entry, size_t index, size_t last) {
  const BoundProgram &program = entry.programs[index];
  for (size_t &next = next_[index]; next < last; ++next) {
    const Segment &segment = program.segments[next];
    if (segment.kind == Segment::Kind::Await) // messages are taken in the order of their numbers
      continue;
    size_t launches = segment.kind == Segment::Kind::Launches ? segment.last - segment.first : 1;
    for (size_t i = 0; i < launches; ++i)
      if (!runLaunch(entry, program, segment, i))
        return false;
  }
  return true;
}

/// Launch `at` of the segment.
bool WatchedRun::runLaunch(const BoundEntry &entry, const BoundProgram &program,
                           const Segment &segment, size_t at) {
  Device &device = *devices_[program.device];
  if (isRemote(device))
    return true;
  if (segment.kind == Segment::Kind::Receive && inJob_ &&
      !awaitArrival(entry.messages[segment.message].id))
    return false;
  size_t index = segment.launch + at;
  const package::Launch &launch = program.source->launches[index];
  operands_.clear();
  for (const package::Operand &operand : launch.operands)
    operands_.push_back(session::view(package_.data(), operand, device));
  LaunchView view{entry.name, device.name(), index, launch, package_.location(launch.location),
                  operands_};
  if (observer_)
    observer_->before(view);
  const bool looks = checkNan_ && !(inJob_ && found_);
  if (looks)
    fusedInputs_.keep(package_.data(), launch, operands_);
  if (!carryOut(entry, program, segment, at))
    return false;
  if (observer_)
    observer_->after(view);
  if (!looks)
    return true;
  if (std::optional<Finding> finding =
          findIn(package_.data(), launch, operands_, fusedInputs_, scratch_)) {
    found_ = {size_t(&program - entry.programs.data()),
              program.device,
              index,
              &launch,
              operands_,
              *finding};
    return inJob_;
  }
  return true;
}

bool WatchedRun::carryOut(const BoundEntry &entry, const BoundProgram &program,
                          const Segment &segment, size_t at) try {
  Device &device = *devices_[program.device];
  const size_t index = segment.launch + at;
  LaunchInterval *time = program.timesFrom(index);
  std::optional<Watchdog::Stretch> stretch;
  if (watchdog_)
    stretch.emplace(*watchdog_, entry, program, index);
  if (segment.kind == Segment::Kind::Send) {
    device.synchronize(0); // the host may still be copying what is sent: an input, a weight
    if (time)
      time->begin = time->end = LaunchInterval::Clock::now();
    transport_.post(entry.messages[segment.message].id);
    return true;
  }
  if (program.indices && watchdog_) // a run that explains another repeats it
    if (Status status = program.indices->count(device, index, 0); !status.ok()) {
      transport_.abort(std::move(status.error()));
      return false;
    }
  if (segment.kind == Segment::Kind::Receive)
    transport_.take(entry.messages[segment.message].id, time);
  else
    device.run(*program.launches, segment.first + at, segment.first + at + 1, time);
  return true;
} catch (const std::runtime_error &error) { // of a driver; what an observer throws is its caller's
  transport_.abort(failAt(placeOf(package_, program, segment), ErrorCode::E0803,
                          "{} failed at {}: {}", devices_[program.device]->name(),
                          segmentText(package_, entry, program, segment), error.what()));
  return false;
}

Diagnostic WatchedRun::describe(std::string_view when) const {
  return session::describe(package_.data(), *found_->launch, found_->operands, found_->finding,
                           when, devices_[found_->device]->name());
}

std::optional<Diagnostic> explainGiven(const package::Package &package, const Devices &devices,
                                       const BoundEntry &entry, std::string_view when) {
  std::vector<std::byte> scratch;
  auto firstIn = [&](uint32_t index) {
    const package::Buffer &buffer = package.data().buffers[index];
    return firstNonFinite(view(buffer, *devices[buffer.device]), scratch);
  };
  for (const package::Binding &input : entry.source->inputs)
    if (auto where = firstIn(input.buffer))
      return describeGiven(nullptr, "input", input.name, *where, when);
  for (const package::Parameter &parameter : package.data().parameters)
    if (auto where = firstIn(parameter.buffers[0]))
      return describeGiven(&package.location(parameter.location), "parameter", parameter.name,
                           *where, when);
  return std::nullopt;
}

/// Of this process.
static std::optional<Found> find(const package::Package &package, const Devices &devices,
                                 Transport &transport, const BoundEntry &entry,
                                 std::string_view when, bool inJob) {
  std::optional<Diagnostic> given = explainGiven(package, devices, entry, when);
  if (given && !inJob)
    return Found{-1, std::move(*given)};
  WatchedRun again(package, devices, transport, nullptr, true);
  const bool well = again.run(entry, Part::BeforeCommit); // in a job others wait for it in any case
  if (given)
    return Found{-1, std::move(*given)};
  if (!well && transport.status().ok())
    return Found{again.order(entry), again.describe(when)};
  std::vector<std::byte> scratch;
  for (const auto &[name, tensor] : entry.mustBeFinite)
    if (auto where = firstNonFinite(tensor, scratch))
      return Found{INT64_MAX, describeGiven(nullptr, "output", name, *where, when)};
  return std::nullopt;
}

Diagnostic explain(const package::Package &package, const Devices &devices, Transport &transport,
                   const BoundEntry &entry, std::string_view when, Peers *peers) {
  std::optional<Found> found = find(package, devices, transport, entry, when, peers != nullptr);
  if (peers) {
    Result<std::optional<Diagnostic>> first = earliest(*peers, found);
    if (first.ok() && *first)
      return **first;
  } else if (found) {
    return found->diagnostic;
  }
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::E0701;
  diagnostic.message = fmt::format("an output was not finite {}, and was when the update was "
                                   "repeated: a kernel is not deterministic",
                                   when);
  return diagnostic;
}

} // namespace lstmc::session
