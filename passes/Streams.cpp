#include "passes/Streams.h"

#include <algorithm>
#include <map>

#include "llvm/ADT/DenseMap.h"

namespace lstmc::passes {

namespace {

void merge(StreamClock &into, const StreamClock &other) {
  for (size_t s = 0; s < into.size(); ++s)
    into[s] = std::max(into[s], other[s]);
}

/// Range of elements of a buffer that an earlier launch touched, [low, high).
struct Touch {
  unsigned launch;
  bool writes;
  int64_t low, high;
};

/// Launches between two points at which all streams are synchronised.
class Part {
public:
  Part(llvm::ArrayRef<exec::LaunchOp> launches, const exec::Access &access, unsigned streams)
      : launches(launches), access(access), tails(streams, kNone), clocks(launches.size()),
        streamOf(launches.size()), waits(launches.size()) {}

  void run(int64_t &events) {
    for (unsigned i = 0; i < launches.size(); ++i)
      assign(i);
    write(events);
  }

private:
  static constexpr unsigned kNone = ~0u;

  void assign(unsigned i) {
    std::vector<unsigned> before = predecessors(i);
    const unsigned stream = chooseStream(i, before);
    StreamClock clock{};
    if (tails[stream] != kNone)
      clock = done(tails[stream]);
    // Latest first: events that a later launch waited for need no further event.
    for (unsigned other : llvm::reverse(before))
      if (clock[streamOf[other]] <= other) {
        waits[i].push_back(other);
        merge(clock, done(other));
      }
    clocks[i] = clock;
    streamOf[i] = stream;
    tails[stream] = i;
  }

  /// The clock once launch `i` is done.
  StreamClock done(unsigned i) const {
    StreamClock clock = clocks[i];
    clock[streamOf[i]] = i + 1;
    return clock;
  }

  /// Launches that touch the same elements as launch `i`, ascending; also records the elements of
  /// launch `i`.
  std::vector<unsigned> predecessors(unsigned i) {
    std::vector<unsigned> before;
    llvm::SmallVector<exec::OperandView> views = launches[i].operandViews();
    for (auto [k, view] : llvm::enumerate(views)) {
      if (!view)
        continue;
      auto [low, high] = view.hull();
      const bool writes = access.writes(launches[i], k);
      for (const Touch &touch : touches[view.buffer])
        if (touch.low < high && low < touch.high && (writes || touch.writes))
          before.push_back(touch.launch);
    }
    for (auto [k, view] : llvm::enumerate(views)) {
      if (!view)
        continue;
      auto [low, high] = view.hull();
      const bool writes = access.writes(launches[i], k);
      std::vector<Touch> &list = touches[view.buffer];
      if (writes) // later launches are ordered after this one, and thereby after those
        llvm::erase_if(list, [&, low = low, high = high](const Touch &touch) {
          return low <= touch.low && touch.high <= high;
        });
      list.push_back({i, writes, low, high});
    }
    llvm::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
    if (!before.empty() && before.back() == i)
      before.pop_back();
    return before;
  }

  /// The stream of the latest launch that this one waits for, if no launch was put there since;
  /// else a stream whose work is done by then; else the stream that has been idle longest.
  unsigned chooseStream(unsigned i, llvm::ArrayRef<unsigned> before) {
    if (isTransfer(launches[i].kernelId()))
      return 0;
    for (unsigned other : llvm::reverse(before))
      if (tails[streamOf[other]] == other)
        return streamOf[other];
    StreamClock known{};
    for (unsigned other : before)
      merge(known, done(other));
    auto rank = [&](unsigned stream) {
      const unsigned tail = tails[stream];
      const unsigned given = tail == kNone ? 0 : tail + 1;
      return std::pair(given > known[stream], given);
    };
    unsigned best = 0;
    for (unsigned stream = 1; stream < tails.size(); ++stream)
      if (rank(stream) < rank(best))
        best = stream;
    return best;
  }

  void write(int64_t &events) {
    std::map<unsigned, int64_t> eventOf; // only of launches that others wait for
    for (llvm::ArrayRef<unsigned> list : waits)
      for (unsigned other : list)
        eventOf[other] = 0;
    for (auto &[launch, event] : eventOf) {
      event = events++;
      launches[launch].setEvent(event);
    }
    for (unsigned i = 0; i < launches.size(); ++i) {
      if (streamOf[i] != 0)
        launches[i].setStream(int64_t(streamOf[i]));
      llvm::SmallVector<int64_t> list;
      for (unsigned other : waits[i])
        list.push_back(eventOf[other]);
      if (!list.empty())
        launches[i].setWaits(list);
    }
  }

  llvm::SmallVector<exec::LaunchOp> launches;
  const exec::Access &access;
  std::vector<unsigned> tails; ///< by stream: its last launch
  std::vector<StreamClock> clocks;
  std::vector<unsigned> streamOf;
  std::vector<std::vector<unsigned>> waits;
  llvm::DenseMap<mlir::Value, std::vector<Touch>> touches; ///< looked up, never iterated
};

} // namespace

void assignStreams(exec::ProgramOp program, const exec::Access &access, unsigned streams) {
  llvm::SmallVector<exec::LaunchOp> launches[2];
  size_t operands = 0;
  bool committed = false;
  for (mlir::Operation &op : program.getBody().front()) {
    committed |= llvm::isa<exec::CommitOp>(op);
    if (auto launch = llvm::dyn_cast<exec::LaunchOp>(op)) {
      launches[committed].push_back(launch);
      operands += launch.getBuffers().size();
    }
  }
  if (streams < 2 || operands > kMaxStreamedOperands)
    return;
  int64_t events = 0;
  for (llvm::ArrayRef<exec::LaunchOp> part : launches)
    Part(part, access, std::min<unsigned>(streams, kMaxStreams)).run(events);
}

std::vector<StreamClock> clocksOf(exec::ProgramOp program) {
  std::vector<StreamClock> clocks;
  std::array<StreamClock, kMaxStreams> tails{};
  llvm::DenseMap<int64_t, StreamClock> events;
  for (mlir::Operation &op : program.getBody().front()) {
    const auto now = uint32_t(clocks.size());
    if (llvm::isa<exec::CommitOp>(op))
      for (StreamClock &tail : tails)
        tail.fill(now);
    auto launch = llvm::dyn_cast<exec::LaunchOp>(op);
    if (!launch)
      continue;
    const auto stream = size_t(launch.streamNumber());
    StreamClock clock = tails[stream];
    for (int64_t event : launch.awaited())
      merge(clock, events.lookup(event));
    clocks.push_back(clock);
    clock[stream] = now + 1;
    tails[stream] = clock;
    if (launch.getEvent())
      events[int64_t(*launch.getEvent())] = clock;
  }
  return clocks;
}

} // namespace lstmc::passes
