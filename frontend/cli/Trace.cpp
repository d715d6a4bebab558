#include "frontend/cli/Trace.h"

#include <sstream>

#include "executor/device/DeviceNames.h"
#include "executor/ranks/Host.h"
#include "executor/ranks/Job.h"
#include "frontend/driver/Ranks.h"

namespace lstmc::cli {

/// Spans kept, of all ranks: some 200 bytes each in the file, which is as much as viewers take.
static constexpr size_t kMostSpans = 1'000'000;

Trace::Trace(const Options &options)
    : path_(options.trace.value_or("")), existing_(options.existing()),
      mostSpans_(kMostSpans / size_t(jobRanks())) {}

void Trace::add(Span span) {
  if (spans_.size() < mostSpans_)
    spans_.push_back(std::move(span));
  else
    ++dropped_;
}

void Trace::passes(const std::vector<passes::PassSpan> &spans) {
  for (const passes::PassSpan &span : spans)
    if (!path_.empty())
      add({kCompiler, span.pass, span.on, span.begin, span.end});
}

void Trace::watch(Session &session) {
  if (path_.empty())
    return;
  session.setTimer(this);
  lanes_.resize(1);
  for (const package::Device &device : session.package().data().devices)
    lanes_.push_back(device.name + (isEmulated(device.name) ? " (emulated)" : ""));
}

void Trace::ran(const package::Package &package, const package::Entry &entry,
                std::span<const std::span<const LaunchInterval>> times) {
  for (size_t p = 0; p < times.size(); ++p) {
    const package::DeviceProgram &program = entry.programs[p];
    for (size_t i = 0; i < times[p].size(); ++i) {
      if (times[p][i].end == Clock::time_point()) // it failed before this one
        continue;
      const package::Launch &launch = program.launches[i];
      const package::Location &at = package.location(launch.location);
      add({1 + program.device,
           fmt::format("{} {}", kernelRecord(launch.kernel).name,
                       at.name.empty() ? at.op : at.name),
           fmt::format("{} {}, {}:{}", entry.name, i, at.file, at.line), times[p][i].begin,
           times[p][i].end});
    }
  }
}

std::string Trace::events(int rank, Clock::time_point start, const Peers *peers) const {
  using Json = nlohmann::ordered_json;
  auto micros = [](Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
  };
  std::string text;
  auto put = [&](const Json &event) {
    text +=
        (text.empty() ? "\n" : ",\n") + event.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  auto name = [&](const char *what, size_t lane, const std::string &is) {
    put({{"name", what},
         {"ph", "M"},
         {"pid", rank + 1},
         {"tid", lane + 1},
         {"args", {{"name", is}}}});
  };
  if (peers)
    name("process_name", kCompiler, fmt::format("rank {} on {}", rank, ranks::hostName()));
  for (size_t lane = 0; lane < lanes_.size(); ++lane)
    if (!peers || lane == kCompiler || peers->rankOf(lane - 1, lanes_.size() - 1) == rank)
      name("thread_name", lane, lanes_[lane]);
  for (const Span &span : spans_) {
    bool pass = span.lane == kCompiler;
    put({{"name", span.name},
         {"cat", pass ? "pass" : "launch"},
         {"ph", "X"},
         {"ts", micros(span.begin - start)},
         {"dur", micros(span.end - span.begin)},
         {"pid", rank + 1},
         {"tid", span.lane + 1},
         {"args", {{pass ? "on" : "at", span.detail}}}});
  }
  return text;
}

namespace {

/// What a rank tells the others of its clock: where that runs, and what it shows.
struct RankClock {
  std::string space;
  int64_t now, start, dropped;

  std::string text() const { return fmt::format("{} {} {} {}", space, now, start, dropped); }
  static RankClock of(const std::string &text) {
    RankClock clock{};
    std::istringstream(text) >> clock.space >> clock.now >> clock.start >> clock.dropped;
    return clock;
  }
};

} // namespace

Status Trace::write(const Console &console, Peers *peers) const {
  if (path_.empty() || (!peers && jobRank() != 0))
    return {};
  int64_t dropped = dropped_;
  Clock::time_point start = start_;
  if (peers) {
    peers->vote(true); // after which all go on at nearly one moment
    const RankClock own{ranks::processSpace(), Clock::now().time_since_epoch().count(),
                        start_.time_since_epoch().count(), dropped_};
    LSTMC_ASSIGN(std::vector<std::string> all, peers->gather(own.text()));
    const RankClock first = RankClock::of(all[0]);
    const int64_t ahead = own.space == first.space ? 0 : own.now - first.now;
    start = Clock::time_point(Clock::duration(first.start + ahead));
    dropped = 0;
    for (const std::string &text : all)
      dropped += RankClock::of(text).dropped;
  }
  std::string text = events(jobRank(), start, peers);
  if (peers && jobRank() != 0)
    return joinedJob().link().sendText(0, text);
  for (int rank = 1; peers && rank < jobRanks(); ++rank) {
    LSTMC_ASSIGN(std::string others, joinedJob().link().receiveText(rank));
    text += "," + others;
  }
  if (dropped > 0)
    console.say(fmt::format("warning: the trace holds the first {} spans{}, {} later ones are left "
                            "out",
                            mostSpans_, peers ? " of each rank" : "", dropped));
  return writeFile(path_, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[" + text + "\n]}\n",
                   existing_);
}

} // namespace lstmc::cli
