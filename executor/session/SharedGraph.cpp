#include "executor/session/SharedGraph.h"

#include <algorithm>

namespace lstmc::session {

namespace {

/// One more than the largest number of an event in the program.
uint32_t eventsOf(const BoundProgram &program) {
  int32_t most = -1;
  for (const Segment &segment : program.segments)
    most = std::max(most, segment.event);
  return uint32_t(most + 1);
}

/// Not where a program has no launches: waiting for a device is told of by one of its launches.
bool areShared(const BoundEntry &entry, const Devices &devices, Transport &transport) {
  auto sharerOf = [&](const BoundProgram &program) {
    return dynamic_cast<const GraphSharer *>(devices[program.device].get());
  };
  if (entry.programs.size() < 2)
    return false;
  for (const BoundProgram &program : entry.programs) {
    const GraphSharer *sharer = sharerOf(program);
    if (!sharer || program.segments.empty() || !sharer->mayBeShared(*program.launches))
      return false;
    for (const BoundProgram &other : entry.programs)
      if (&other != &program && !sharer->sharesGraphs(*devices[other.device]))
        return false;
  }
  return std::ranges::all_of(entry.messages, [&](const BoundMessage &message) {
    return transport.copyOf(message.id) != nullptr;
  });
}

} // namespace

Result<std::shared_ptr<SharedGraph>> SharedGraph::of(const BoundEntry &entry,
                                                     const Devices &devices, Transport &transport) {
  std::shared_ptr<SharedGraph> shared;
  if (!areShared(entry, devices, transport))
    return shared;
  shared.reset(new SharedGraph(devices));
  const auto messages = uint32_t(entry.messages.size());
  for (const BoundProgram &program : entry.programs) {
    shared->shares_.push_back({devices[program.device].get(), program.launches.get()});
    LSTMC_TRY(devices[program.device]->reserve(program.streams, eventsOf(program) + 2 * messages));
  }
  for (uint32_t i = 0; i < messages; ++i) {
    const BoundMessage &message = entry.messages[i];
    const BoundProgram &from = entry.programs[message.send.program],
                       &to = entry.programs[message.receive.program];
    shared->copies_.push_back(transport.copyOf(message.id));
    shared->shares_.push_back({devices[to.device].get(), shared->copies_.back()});
    shared->events_.push_back({eventsOf(from) + i, eventsOf(to) + messages + i});
  }
  bool ordered = shared->order(entry, Part::BeforeCommit);
  shared->committed_ = shared->graphs_.size();
  ordered = ordered && shared->order(entry, Part::Committed);
  return ordered ? shared : nullptr;
}

/// Each program as far as its messages have been sent, and taken, in turns. False if devices wait
/// for one another.
bool SharedGraph::order(const BoundEntry &entry, Part part) {
  const size_t first = steps_.size();
  std::vector<size_t> at;
  for (const BoundProgram &program : entry.programs)
    at.push_back(program.firstSegment(part));
  // An end that is no segment of this part was one before.
  auto isAhead = [&](MessageEnd end) {
    return at[end.program] <= end.segment &&
           end.segment < entry.programs[end.program].lastSegment(part);
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t p = 0; p < at.size(); ++p) {
      const BoundProgram &program = entry.programs[p];
      for (; at[p] < program.lastSegment(part); ++at[p], moved = true) {
        const Segment &segment = program.segments[at[p]];
        if (segment.kind == Segment::Kind::Receive && isAhead(entry.messages[segment.message].send))
          break;
        if (segment.kind == Segment::Kind::Await &&
            isAhead(entry.messages[segment.message].receive))
          break;
        steps_.push_back({p, at[p]});
      }
    }
  }
  for (size_t p = 0; p < at.size(); ++p)
    if (at[p] < entry.programs[p].lastSegment(part))
      return false;
  cut(entry, first);
  return true;
}

void SharedGraph::cut(const BoundEntry &entry, size_t first) {
  for (size_t i = first; i < steps_.size(); ++i) {
    const BoundProgram &program = entry.programs[steps_[i].program];
    const Segment &segment = program.segments[steps_[i].segment];
    const bool counts = segment.kind == Segment::Kind::Launches && program.indices &&
                        program.indices->counts(segment.launch);
    if (i == first || counts)
      graphs_.push_back({i, i});
    graphs_.back().last = i + 1;
  }
}

GraphSharer &SharedGraph::sharer(size_t device) const {
  return dynamic_cast<GraphSharer &>(*devices_[device]);
}

Status SharedGraph::give(const BoundEntry &entry, Part part, Place &at) {
  const size_t begin = part == Part::Committed ? committed_ : 0,
               end = part == Part::BeforeCommit ? committed_ : graphs_.size();
  const BoundProgram &leader = entry.programs.front();
  for (size_t number = begin; number < end; ++number) {
    const Graph &graph = graphs_[number];
    at = steps_[graph.first];
    const BoundProgram &program = entry.programs[at.program];
    if (program.segments[at.segment].kind == Segment::Kind::Launches)
      LSTMC_TRY(program.checkIndices(*devices_[program.device], program.segments[at.segment]));
    auto giveAll = [&] {
      for (size_t i = graph.first; i < graph.last; ++i)
        giveStep(entry, at = steps_[i]);
    };
    // After the numbers of the leader's own graphs. A reference: a run allocates nothing.
    sharer(leader.device)
        .runSharedGraph(shares_, leader.segments.size() + number, std::ref(giveAll));
  }
  return {};
}

void SharedGraph::giveStep(const BoundEntry &entry, const Place &step) {
  const BoundProgram &program = entry.programs[step.program];
  const Segment &segment = program.segments[step.segment];
  Device &device = *devices_[program.device];
  const size_t message = segment.message;
  if (segment.kind == Segment::Kind::Await) {
    // Whatever stream writes over the value.
    const MessageEnd &end = entry.messages[message].receive;
    for (uint32_t stream = 0; stream < program.streams; ++stream)
      sharer(program.device)
          .waitFor(stream, *devices_[entry.programs[end.program].device], events_[message].taken);
    return;
  }
  program.begin(device, segment);
  switch (segment.kind) {
  case Segment::Kind::Launches:
    program.launch(device, segment);
    break;
  case Segment::Kind::Send:
    device.record(segment.stream, events_[message].sent);
    break;
  case Segment::Kind::Receive: {
    const MessageEnd &end = entry.messages[message].send;
    sharer(program.device)
        .waitFor(segment.stream, *devices_[entry.programs[end.program].device],
                 events_[message].sent);
    device.launch(segment.stream, *copies_[message], 0, 1);
    device.record(segment.stream, events_[message].taken);
    break;
  }
  case Segment::Kind::Await:
    break;
  }
  program.end(device, segment);
}

} // namespace lstmc::session
