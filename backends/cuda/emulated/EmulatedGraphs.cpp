#include "backends/cuda/emulated/EmulatedGraphs.h"

#include <algorithm>

namespace lstmc::cuda::emulated {

// ---- capturing ----

void Capture::add(Command command) {
  const size_t lane = command.lane;
  ++known[lane][lane];
  commands.push_back(std::move(command));
}

DriverResult Capture::give(Stream &stream, Operation operation) {
  add({Command::Kind::Operation, stream.lane, 0, std::move(operation)});
  return kDone;
}

DriverResult Capture::record(Event &event, Stream &stream) {
  add({Command::Kind::Record, stream.lane, recorded.size()});
  event.capture = weak_from_this();
  event.captured = true;
  event.place = recorded.size();
  recorded.push_back(known[stream.lane]);
  recorders.push_back(stream.lane);
  return kDone;
}

void Capture::join(Stream &stream) {
  stream.capture = this;
  stream.lane = lanes.size();
  lanes.push_back(&stream);
  cards.push_back(stream.card);
  known.emplace_back();
  for (Known &each : known)
    each.resize(lanes.size());
}

DriverResult Capture::wait(Stream &stream, Event &event) {
  const std::shared_ptr<Capture> capture = event.captured ? event.capture.lock() : nullptr;
  if (event.captured && (!capture || capture->lanes.empty()))
    return kCapturedEvent;
  if (stream.capture && stream.capture != capture.get()) {
    stream.capture->broken = true;
    return kCaptureIsolation;
  }
  if (!stream.capture)
    capture->join(stream);
  Known &known = capture->known[stream.lane];
  const Known &other = capture->recorded[event.place];
  for (size_t lane = 0; lane < other.size(); ++lane)
    known[lane] = std::max(known[lane], other[lane]);
  capture->add({Command::Kind::Wait, stream.lane, event.place});
  return kDone;
}

// ---- graphs ----

namespace {

// A graph's handle is that of a shared pointer, because events know their capture weakly.
using Graph = std::shared_ptr<Capture>;
Graph &graphOf(DriverGraph graph) { return *reinterpret_cast<Graph *>(graph); }
Executable &executableOf(DriverExecutable executable) {
  return *reinterpret_cast<Executable *>(executable);
}

/// The captures under way of a thread, by the stream where they began.
thread_local std::vector<Graph> underWay;

DriverResult beginCapture(DriverStream handle, unsigned) {
  Stream &stream = streamOf(handle);
  std::lock_guard lock(current->mutex);
  if (stream.capture)
    return kCaptureUnmatched;
  underWay.push_back(std::make_shared<Capture>());
  underWay.back()->join(stream);
  return kDone;
}

DriverResult endCapture(DriverStream handle, DriverGraph *graph) {
  Stream &stream = streamOf(handle);
  std::lock_guard lock(current->mutex);
  *graph = nullptr;
  auto found = std::ranges::find(underWay, stream.capture, &Graph::get);
  if (found == underWay.end() || stream.lane != 0)
    return kCaptureUnmatched;
  Graph capture = std::move(*found);
  underWay.erase(found);
  // The other lanes come before the end of the first.
  bool joined = true;
  for (size_t lane = 0; lane < capture->lanes.size(); ++lane)
    joined = joined && capture->known[0][lane] == capture->known[lane][lane];
  for (Stream *lane : capture->lanes)
    lane->capture = nullptr;
  capture->lanes.clear();
  if (capture->broken || !joined)
    return capture->broken ? kCaptureInvalid : kCaptureUnjoined;
  *graph = handleOf<DriverGraph>(new Graph(std::move(capture)));
  return kDone;
}

DriverResult instantiate(DriverExecutable *executable, DriverGraph graph, unsigned long long) {
  auto made = std::make_unique<Executable>();
  made->capture = graphOf(graph);
  for (Card *card : made->capture->cards) {
    made->lanes.push_back(&newStream(*card));
    made->ended.push_back(&newEvent(*card));
  }
  for (size_t lane : made->capture->recorders)
    made->records.push_back(&newEvent(*made->capture->cards[lane]));
  made->begun = &newEvent(*current);
  *executable = handleOf<DriverExecutable>(made.release());
  return kDone;
}

/// All that the stream was given comes before the graph, and the graph before what it is given
/// next.
DriverResult launchGraph(DriverExecutable handle, DriverStream stream) {
  const Executable &graph = executableOf(handle);
  Stream &origin = streamOf(stream);
  {
    std::lock_guard lock(origin.card->mutex);
    if (origin.capture) {
      origin.capture->broken = true;
      return kNotInCapture;
    }
  }
  DriverResult result = record(*graph.begun, origin);
  for (Stream *lane : graph.lanes)
    if (result == kDone)
      result = wait(*lane, *graph.begun);
  for (const Capture::Command &command : graph.capture->commands) {
    if (result != kDone)
      return result;
    Stream &lane = *graph.lanes[command.lane];
    if (command.kind == Capture::Command::Kind::Operation)
      result = give(lane, command.operation);
    else if (command.kind == Capture::Command::Kind::Record)
      result = record(*graph.records[command.event], lane);
    else
      result = wait(lane, *graph.records[command.event]);
  }
  for (size_t lane = 0; lane < graph.lanes.size(); ++lane) {
    if (result == kDone)
      result = record(*graph.ended[lane], *graph.lanes[lane]);
    if (result == kDone)
      result = wait(origin, *graph.ended[lane]);
  }
  return result;
}

DriverResult destroyExecutable(DriverExecutable handle) {
  const std::unique_ptr<Executable> graph(&executableOf(handle));
  for (Stream *lane : graph->lanes)
    removeStream(*lane->card, *lane);
  return kDone; // its events with their card
}

DriverResult destroyGraph(DriverGraph graph) {
  delete &graphOf(graph);
  return kDone;
}

} // namespace

void addGraphs(Driver &driver) {
  driver.beginCapture = beginCapture;
  driver.endCapture = endCapture;
  driver.instantiate = instantiate;
  driver.launchGraph = launchGraph;
  driver.destroyExecutable = destroyExecutable;
  driver.destroyGraph = destroyGraph;
}

} // namespace lstmc::cuda::emulated
