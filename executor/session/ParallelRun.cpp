#include "executor/session/ParallelRun.h"

#include <algorithm>
#include <exception>
#include <new>

#include "executor/session/SegmentText.h"
#include "executor/session/SharedGraph.h"

namespace lstmc::session {

ParallelRun::ParallelRun(const package::Package &package, const Devices &devices,
                         DeviceThreads &threads, Transport &transport, Watchdog &watchdog,
                         DeviceHook hook)
    : package_(package), devices_(devices), threads_(threads), transport_(transport),
      watchdog_(watchdog), hook_(std::move(hook)),
      work_([this](size_t device) { carryOut(device); }) {}

Status ParallelRun::run(const BoundEntry &entry, Part part,
                        const std::function<void()> *meanwhile) {
  entry_ = &entry;
  part_ = part;
  meanwhile_ = meanwhile;
  transport_.begin();
  const bool timed = std::ranges::any_of(
      entry.programs, [](const BoundProgram &program) { return program.times != nullptr; });
  if (entry.shared && !hook_ && !timed)
    return runShared(entry, part, meanwhile);
  watchdog_.expect(entry);
  threads_.each(work_);
  return transport_.status();
}

Status ParallelRun::runShared(const BoundEntry &entry, Part part,
                              const std::function<void()> *meanwhile) {
  const auto works = std::ranges::find_if(entry.programs, [&](const BoundProgram &program) {
    return program.lastSegment(part) > program.firstSegment(part);
  });
  if (works == entry.programs.end()) { // a part without launches
    if (meanwhile)
      (*meanwhile)();
    return transport_.status();
  }
  SharedGraph::Place at = {size_t(works - entry.programs.begin()), works->firstSegment(part)};
  guarded([&] { return std::pair(&entry.programs[at.program], at.segment); },
          [&] {
            const size_t launch = works->segments[at.segment].launch;
            Watchdog::Stretch stretch(watchdog_, entry, *works, launch);
            if (Status status = entry.shared->give(entry, part, at); !status.ok())
              transport_.abort(std::move(status.error()));
          });
  if (meanwhile && !transport_.aborted().load())
    guarded([&] { return std::pair(&entry.programs[at.program], at.segment); },
            [&] { (*meanwhile)(); });
  // A device without launches in this part too: its streams wait for the graph.
  for (const BoundProgram &program : entry.programs) {
    const size_t segment = std::max<size_t>(program.lastSegment(part), 1) - 1;
    guarded([&] { return std::pair(&program, segment); }, [&] { finish(program, segment); });
  }
  return transport_.status();
}

template <typename Where, typename Work> void ParallelRun::guarded(Where where, Work work) {
  auto abortWith = [&](ErrorCode code, std::string_view what) {
    const auto [program, at] = where();
    abort(*program, at, code, what);
  };
  try {
    work();
  } catch (const std::bad_alloc &) {
    abortWith(ErrorCode::E0901, "out of memory");
  } catch (const std::exception &exception) {
    abortWith(ErrorCode::E0803, exception.what());
  } catch (...) {
    abortWith(ErrorCode::E0803, "unknown exception");
  }
}

void ParallelRun::carryOut(size_t device) {
  const BoundProgram *program = entry_->programOf(device);
  if (!program)
    return;
  size_t at = program->firstSegment(part_);
  const auto here = [&] { return std::pair(program, at); };
  guarded(here, [&] {
    carryOut(*program, at);
    if (meanwhile_ && device == entry_->programs.front().device && !transport_.aborted().load())
      (*meanwhile_)();
  });
  // Also if the round is aborted: from here on the caller owns what the device used. A device that
  // has failed says so again.
  if (const size_t last = program->lastSegment(part_); last > program->firstSegment(part_))
    guarded(here, [&] { finish(*program, std::min(at, last - 1)); });
  watchdog_.done(device);
}

void ParallelRun::carryOut(const BoundProgram &program, size_t &at) {
  Device &device = *devices_[program.device];
  while (at < program.lastSegment(part_)) {
    const Segment &segment = program.segments[at];
    watchdog_.at(program.device, at);
    if (at == program.commitSegment)
      finish(program, at); // all streams meet here
    if (hook_ && segment.kind != Segment::Kind::Await)
      hook_({program.device, entry_->name, segment.launch, transport_.aborted()});
    if (transport_.aborted().load())
      return;
    if (!checkIndices(program, segment))
      return;
    if (!hook_ && program.beginsGraph(device, at)) {
      Watchdog::Stretch stretch(watchdog_, *entry_, program, segment.launch);
      at = program.runGraph(device, at);
      continue;
    }
    if (!carryOut(program, segment))
      return;
    ++at;
  }
  await(program.device, [&] { return transport_.drained(program.device); });
}

bool ParallelRun::checkIndices(const BoundProgram &program, const Segment &segment) {
  if (segment.kind != Segment::Kind::Launches || !program.indices)
    return true;
  Watchdog::Stretch stretch(watchdog_, *entry_, program, segment.launch);
  Status status = program.checkIndices(*devices_[program.device], segment);
  if (!status.ok())
    transport_.abort(std::move(status.error()));
  return status.ok();
}

void ParallelRun::finish(const BoundProgram &program, size_t at) {
  Watchdog::Stretch stretch(watchdog_, *entry_, program, program.segments[at].launch);
  devices_[program.device]->finish();
}

bool ParallelRun::carryOut(const BoundProgram &program, const Segment &segment) {
  Device &device = *devices_[program.device];
  program.begin(device, segment);
  switch (segment.kind) {
  case Segment::Kind::Launches: {
    Watchdog::Stretch stretch(watchdog_, *entry_, program, segment.launch);
    program.launch(device, segment);
    break;
  }
  case Segment::Kind::Send:
    send(program, segment);
    break;
  case Segment::Kind::Receive:
    if (!receive(program, segment))
      return false;
    break;
  case Segment::Kind::Await:
    return await(program, segment);
  }
  program.end(device, segment);
  return true;
}

void ParallelRun::send(const BoundProgram &program, const Segment &segment) {
  {
    Watchdog::Stretch stretch(watchdog_, *entry_, program, segment.launch);
    devices_[program.device]->synchronize(segment.stream);
  }
  if (LaunchInterval *time = program.timesFrom(segment.launch))
    time->begin = time->end = LaunchInterval::Clock::now();
  transport_.post(entry_->messages[segment.message].id);
}

bool ParallelRun::receive(const BoundProgram &program, const Segment &segment) {
  if (!await(program, segment))
    return false;
  Watchdog::Stretch stretch(watchdog_, *entry_, program, segment.launch);
  devices_[program.device]->synchronize(segment.stream); // waits for earlier users of the place
  transport_.take(entry_->messages[segment.message].id, program.timesFrom(segment.launch));
  return true;
}

bool ParallelRun::await(const BoundProgram &program, const Segment &segment) {
  const BoundMessage &message = entry_->messages[segment.message];
  const bool receives = segment.kind == Segment::Kind::Receive;
  auto met = [&] {
    return receives ? transport_.arrived(message.id) : transport_.sent(message.id);
  };
  if (met())
    return true;
  Watchdog::Wait wait(watchdog_, program.device,
                      receives ? message.message.from : message.message.to, message.id, receives);
  await(program.device, met);
  return met();
}

void ParallelRun::abort(const BoundProgram &program, size_t at, ErrorCode code,
                        std::string_view what) {
  const Segment &segment = program.segments[std::min(at, program.segments.size() - 1)];
  transport_.abort(failAt(placeOf(package_, program, segment), code, "{} failed at {}: {}",
                          devices_[program.device]->name(),
                          segmentText(package_, *entry_, program, segment), what));
}

} // namespace lstmc::session
