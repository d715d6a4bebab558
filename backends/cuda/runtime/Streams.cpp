#include "backends/cuda/runtime/Streams.h"

namespace lstmc::cuda {

DriverResult Streams::reserve(uint32_t streams, uint32_t events) {
  DriverResult error = 0;
  auto makeEvent = [&](DriverEvent &event) {
    if (!error && !event)
      error = driver_.createEvent(&event, kEventWithoutTiming);
  };
  makeEvent(begun_);
  makeEvent(ended_);
  while (!error && streams_.size() < streams) {
    Stream &stream = streams_.emplace_back();
    error = driver_.createStream(&stream.handle, kStreamNonBlocking);
    makeEvent(stream.joined);
    stream.mustWait = graphs_ > 0 && streams_.size() > 1;
  }
  while (!error && events_.size() < events)
    makeEvent(events_.emplace_back().handle);
  return error;
}

void Streams::destroy() {
  for (const Stream &stream : streams_)
    driver_.destroyStream(stream.handle);
  for (const Stream &stream : streams_)
    driver_.destroyEvent(stream.joined);
  for (const Event &event : events_)
    driver_.destroyEvent(event.handle);
  for (DriverEvent event : {begun_, ended_})
    if (event)
      driver_.destroyEvent(event);
  streams_.clear();
  events_.clear();
  begun_ = ended_ = nullptr;
}

DriverResult Streams::use(uint32_t number, DriverStream &handle) {
  Stream &stream = streams_[number];
  handle = stream.handle;
  if (number == 0 && !leader_)
    return 0;
  DriverResult error = 0;
  if (inside_ && !stream.inside) {
    error = driver_.wait(handle, leader().begun_, 0);
    stream.inside = true;
  } else if (!inside_ && stream.mustWait) {
    error = driver_.wait(handle, ended_, 0);
    stream.mustWait = false;
  }
  stream.ahead = stream.ahead || !inside_;
  return error;
}

DriverResult Streams::record(uint32_t stream, uint32_t number) {
  Event &event = events_[number];
  event.graph = inside_;
  DriverStream handle = nullptr;
  if (DriverResult error = use(stream, handle))
    return error;
  return driver_.record(event.handle, handle);
}

DriverResult Streams::wait(uint32_t stream, uint32_t number) {
  const Event &event = events_[number];
  DriverStream handle = nullptr;
  if (DriverResult error = use(stream, handle))
    return error;
  return event.graph == inside_ ? driver_.wait(handle, event.handle, 0) : 0;
}

DriverResult Streams::synchronize(uint32_t stream) {
  DriverStream handle = nullptr;
  if (DriverResult error = use(stream, handle))
    return error;
  streams_[stream].ahead = false; // what comes next comes after it in any case
  return driver_.synchronize(handle);
}

DriverResult Streams::finish() {
  DriverResult error = 0;
  for (uint32_t stream = 0; !error && stream < streams_.size(); ++stream)
    error = synchronize(stream);
  return error;
}

DriverResult Streams::waitFor(DriverEvent event) const {
  DriverResult error = 0;
  for (const Stream &stream : streams_)
    if (!error)
      error = driver_.wait(stream.handle, event, 0);
  return error;
}

DriverResult Streams::waitFor(uint32_t stream, const Streams &other, uint32_t number) {
  const Event &event = other.events_[number];
  DriverStream handle = nullptr;
  if (DriverResult error = use(stream, handle))
    return error;
  return event.graph == other.inside_ ? driver_.wait(handle, event.handle, 0) : 0;
}

DriverResult Streams::join(Stream &stream) {
  if (DriverResult error = driver_.record(stream.joined, stream.handle))
    return error;
  return driver_.wait(leader().streams_[0].handle, stream.joined, 0);
}

/// All that these streams were given comes before a graph that is launched on another device's.
DriverResult Streams::comeBefore(DriverStream graph) {
  const Stream &first = streams_[0];
  DriverResult error = enter();
  if (!error)
    error = driver_.record(first.joined, first.handle);
  return error ? error : driver_.wait(graph, first.joined, 0);
}

/// What they are given from now on comes after it.
DriverResult Streams::comeAfter(DriverEvent graph) {
  for (Stream &stream : streams_)
    stream.mustWait = false;
  return waitFor(graph);
}

/// What comes next is inside a run of a graph; `begun_` is recorded by the caller.
DriverResult Streams::enter() {
  DriverResult error = 0;
  for (Stream &stream : streams_)
    if (!error && stream.ahead) {
      error = join(stream);
      stream.ahead = false;
    }
  return error;
}

DriverResult Streams::leave() {
  DriverResult error = 0;
  for (Stream &stream : streams_) {
    if (!error && stream.inside)
      error = join(stream);
    stream.inside = false;
  }
  inside_ = 0;
  return error;
}

/// Of a run of a graph.
DriverResult Streams::ended() {
  for (size_t i = 1; i < streams_.size(); ++i)
    streams_[i].mustWait = true;
  return driver_.record(ended_, streams_[0].handle);
}

DriverResult Streams::capture(KeptGraph &graph, const std::function<void()> &give) {
  DriverStream origin = streams_[0].handle;
  if (DriverResult error = driver_.beginCapture(origin, kCaptureOfThread))
    return error;
  inside_ = ++graphs_;
  for (Streams *guest : graph.guests) {
    guest->inside_ = ++guest->graphs_;
    guest->leader_ = this;
  }
  DriverResult error = driver_.record(begun_, origin);
  DriverGraph made = nullptr;
  auto end = [&] {
    for (Streams *guest : graph.guests) {
      if (DriverResult left = guest->leave(); !error)
        error = left;
      guest->leader_ = nullptr;
    }
    if (DriverResult left = leave(); !error)
      error = left;
    if (DriverResult captured = driver_.endCapture(origin, &made); !error)
      error = captured;
  };
  try {
    if (!error)
      give();
  } catch (...) {
    end();
    if (made)
      driver_.destroyGraph(made);
    throw;
  }
  end();
  if (!error)
    error = driver_.instantiate(&graph.executable, made, 0);
  if (made)
    driver_.destroyGraph(made);
  return error;
}

DriverResult Streams::launch(const KeptGraph &graph) {
  DriverResult error = enter();
  for (Streams *guest : graph.guests)
    if (!error)
      error = guest->comeBefore(streams_[0].handle);
  ++graphs_;
  if (!error)
    error = driver_.launchGraph(graph.executable, streams_[0].handle);
  if (!error)
    error = ended();
  for (Streams *guest : graph.guests)
    if (!error)
      error = guest->comeAfter(ended_);
  return error;
}

DriverResult Streams::inPlaceOfGraph(const std::function<void()> &give) {
  DriverResult error = enter();
  if (!error)
    error = driver_.record(begun_, streams_[0].handle);
  if (error)
    return error;
  inside_ = ++graphs_;
  try {
    give();
  } catch (...) {
    leave();
    throw;
  }
  error = leave();
  return error ? error : ended();
}

} // namespace lstmc::cuda
