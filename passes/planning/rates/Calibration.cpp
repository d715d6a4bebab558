#include "passes/planning/rates/Calibration.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <span>
#include <utility>

#include <time.h>

#include <fmt/format.h>

#include "backends/registry/Targets.h"
#include "passes/planning/rates/CalibrationNets.h"
#include "passes/planning/rates/MeasuredNet.h"

namespace lstmc::planning {

namespace {

constexpr int kHopRounds = 40;
constexpr double kNever = 1e9;

constexpr Cell kCells[] = {{1, 16, 64, 50},
                           {1, 16, 256, 65},
                           {1, 6, 512, 200},
                           {2, 12, 128, 500},
                           {4, 16, 128, 65},
                           {8, 12, 256, 500},
                           {16, 16, 64, 65},
                           {16, 5, 512, 65},
                           {20, 12, 200, 2000},
                           {32, 12, 256, 65},
                           {32, 3, 1024, 100},
                           {64, 8, 128, 65},
                           {64, 4, 512, 65},
                           {32, 12, 128, 65, Layers::Gru},
                           {4, 12, 256, 65, Layers::Gru},
                           {1, 4, 16, 10},
                           {7, 11, 24, 171},
                           {8, 24, 32, 11},
                           {4, 28, 64, 10},
                           {64, 16, 8, 4},
                           {5, 6, 19, 37},
                           {13, 2, 19, 37},
                           {16, 2, 40, 30},
                           {8, 12, 24, 0, Layers::None},
                           {13, 7, 9, 0, Layers::None},
                           {2, 70, 13, 0, Layers::None},
                           {32, 16, 128, 0, Layers::None}};
constexpr int kRounds = 4, kPasses = 2;

/// Sizes to measure within a second: one net of each kind of size.
constexpr Cell kQuickCells[] = {{1, 16, 64, 50},
                                {2, 8, 128, 500},
                                {4, 16, 256, 65},
                                {32, 8, 64, 65},
                                {16, 3, 512, 65},
                                {32, 6, 128, 65, Layers::Gru},
                                {1, 4, 16, 10},
                                {8, 12, 24, 171},
                                {64, 16, 8, 4},
                                {13, 2, 19, 37},
                                {13, 12, 24, 0, Layers::None}};
constexpr int kQuickRounds = 2, kQuickPasses = 2, kQuickHopRounds = 12;
/// More rounds for small nets, with few multiplications per step over all rows, whose launches take
/// microseconds.
constexpr int kSmallRounds = 32, kSmallProducts = 40'000;

/// All times of every launch, by entry and launch.
using LaunchSeconds = std::map<std::pair<std::string, size_t>, std::vector<double>>;

/// Processor time, so that other work on the machine is not counted while it preempts a
/// measurement. Reading that clock takes as long as a small launch.
class Stopwatch : public SessionObserver {
public:
  explicit Stopwatch(LaunchSeconds &seconds) : seconds_(seconds) {}

  void before(const LaunchView &) override { begin_ = now(); }
  void after(const LaunchView &view) override {
    seconds_[{std::string(view.entry), view.index}].push_back(now() - begin_);
  }

private:
  static double now() {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
  }

  LaunchSeconds &seconds_;
  double begin_ = 0;
};

/// The 1/8 quantile of some times; disturbance by other work only makes times longer.
double least(std::vector<double> &times) {
  std::sort(times.begin(), times.end());
  return times.empty() ? kNever : times[times.size() / 8];
}

using Clock = LaunchInterval::Clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// The cost of reading the clock.
double secondsOfClock() {
  std::vector<double> times;
  for (int i = 0; i < 200; ++i)
    times.push_back(secondsSince(Clock::now()));
  return least(times);
}

/// Wall time from the begin of a launch to the begin of the next, as in normal runs: including the
/// time between launches and disturbance by other work, but without reading the processor's clock.
class Intervals : public SessionTimer {
public:
  explicit Intervals(LaunchSeconds &seconds) : seconds_(seconds) {}

  void ran(const package::Package &, const package::Entry &entry,
           std::span<const std::span<const LaunchInterval>> times) override {
    for (size_t i = 0; i < times[0].size(); ++i) {
      const std::chrono::duration<double> interval = times[0][i].end - times[0][i].begin;
      const double seconds = std::max(0.0, interval.count() - clock_);
      seconds_[{entry.name, i}].push_back(seconds);
      sum_ += seconds;
    }
  }

  /// Total seconds of all launches since the last call.
  double sum() { return std::exchange(sum_, 0); }

private:
  LaunchSeconds &seconds_;
  const double clock_ = secondsOfClock();
  double sum_ = 0;
};

/// A net and the measured times of its launches.
struct Subject {
  Cell cell;
  package::Package::Pointer package;
  LaunchSeconds processor, wall;
};

/// Adds a sample per launch: the shorter of its times by two clocks.
void addTo(std::vector<target::Sample> &samples, Subject &subject) {
  const package::PackageData &data = subject.package->data();
  for (const package::Entry &entry : data.entries) {
    const size_t first = samples.size();
    double sum = 0;
    for (size_t i = 0; i < entry.programs[0].launches.size(); ++i) {
      const package::Launch &launch = entry.programs[0].launches[i];
      const double seconds =
          std::min(least(subject.processor[{entry.name, i}]), least(subject.wall[{entry.name, i}]));
      if (seconds == kNever)
        continue;
      samples.push_back({launch.kernel, target::workOf(data, launch), seconds});
      sum += seconds;
    }
    for (target::Sample &sample : std::span(samples).subspan(first))
      sample.share = sample.seconds / sum;
  }
}

std::string_view optimizerOf(const Cell &cell) { return cell.batch % 16 == 0 ? "adam" : "sgd"; }

Result<Subject> compileCell(const Cell &cell) {
  passes::CompileOptions options;
  options.entries = {"forward", "step"};
  options.optimizer.name = optimizerOf(cell);
  LSTMC_ASSIGN(package::Package::Pointer package, compileText(netOf(cell), options));
  return Subject{cell, package, {}, {}};
}

Status watch(Subject &subject, int threads, int rounds) {
  constexpr double kRate = 1e-3;
  const Cell &cell = subject.cell;
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(subject.package, threads));
  session->setScalar("learning_rate", kRate);
  if (cell.batch * cell.hidden * cell.hidden <= kSmallProducts)
    rounds *= kSmallRounds;
  Stopwatch stopwatch(subject.processor);
  Intervals intervals(subject.wall);
  for (int round = -1; round < rounds; ++round) {
    // The first run is a warm-up. Only on a device without threads of its own does all work run on
    // this thread.
    const bool byProcessor = threads == 1 && round % 2 == 0;
    session->setObserver(byProcessor ? &stopwatch : nullptr);
    session->setTimer(byProcessor || round < 0 ? nullptr : &intervals);
    session->setScalar("update", int64_t(round) + 2);
    for (std::string_view entry : {"forward", "step"})
      LSTMC_TRY(session->run(entry));
  }
  return {};
}

/// Time of a call beyond its launches, without a timer.
Result<double> secondsOfCall(int threads) {
  constexpr int kRuns = 400;
  LSTMC_ASSIGN(Subject subject, compileCell({1, 1, 16, 10}));
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(subject.package, threads));
  Intervals intervals(subject.wall);
  std::vector<double> launches, runs;
  for (int run = 0; run < kRuns; ++run) {
    session->setTimer(run % 2 ? &intervals : nullptr);
    const auto begin = Clock::now();
    LSTMC_TRY(session->run("forward"));
    if (run % 2)
      launches.push_back(intervals.sum());
    else
      runs.push_back(secondsSince(begin));
  }
  return std::max(0.0, least(runs) - least(launches));
}

/// The shortest time of any message from offer to receipt: other work on the machine, and receivers
/// that are not waiting yet, only make it longer.
class MessageWatch : public SessionTimer {
public:
  void ran(const package::Package &, const package::Entry &entry,
           std::span<const std::span<const LaunchInterval>> times) override {
    std::map<int64_t, Clock::time_point> offered;
    each(entry, KernelId::Send, times, [&](int64_t message, const LaunchInterval &interval) {
      offered[message] = interval.begin;
    });
    each(entry, KernelId::Receive, times, [&](int64_t message, const LaunchInterval &interval) {
      double seconds = std::chrono::duration<double>(interval.end - offered[message]).count();
      if (seconds > 0)
        least_ = std::min(least_, seconds);
    });
  }

  double least() const { return least_; }

private:
  template <typename F>
  static void each(const package::Entry &entry, KernelId kernel,
                   std::span<const std::span<const LaunchInterval>> times, F visit) {
    for (size_t p = 0; p < entry.programs.size(); ++p)
      for (size_t i = 0; i < entry.programs[p].launches.size(); ++i)
        if (const package::Launch &launch = entry.programs[p].launches[i]; launch.kernel == kernel)
          visit(argumentsOf<TransferArguments>(launch).message, times[p][i]);
  }

  double least_ = 1;
};

/// Seconds of a message of `count` floats.
Result<double> secondsOfMessage(int elements, int threads, int rounds) {
  passes::CompileOptions options;
  options.entries = {"forward"};
  options.devices = {"cpu:0", "cpu:1"};
  options.place = {{"group0", "cpu:0"}, {"group1", "cpu:1"}};
  options.chunks = 1;
  options.disabled = {"fuse"};
  LSTMC_ASSIGN(package::Package::Pointer package, compileText(hopsNet(elements), options));
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(package, threads));
  MessageWatch watch;
  session->setTimer(&watch);
  for (int round = 0; round < rounds; ++round)
    LSTMC_TRY(session->run("forward"));
  return watch.least();
}

/// Fitted to a small message and a large one.
Result<target::Link> measureLink(int threads, int rounds) {
  constexpr int kFew = 16, kMany = 1 << 20;
  LSTMC_ASSIGN(double few, secondsOfMessage(kFew, threads, rounds));
  LSTMC_ASSIGN(double many, secondsOfMessage(kMany, threads, rounds));
  target::Link link;
  link.seconds = std::max(few, 1e-8);
  // A rate beyond the bandwidth of memory is not a valid measurement.
  link.bytesPerSecond = std::min(4.0 * kMany / std::max(many - few, 1e-12), 1e12);
  return link;
}

} // namespace

Result<target::Machine> measureMachine(int threads, Effort effort) {
  const bool quick = effort == Effort::ASecond;
  std::vector<Subject> subjects;
  for (const Cell &cell : quick ? std::span<const Cell>(kQuickCells) : std::span(kCells)) {
    LSTMC_ASSIGN(Subject subject, compileCell(cell));
    subjects.push_back(std::move(subject));
  }
  // Rounds are interleaved, so that other work does not disturb all rounds of one net.
  for (int pass = 0; pass < (quick ? kQuickPasses : kPasses); ++pass)
    for (Subject &subject : subjects)
      LSTMC_TRY(watch(subject, threads, quick ? kQuickRounds : kRounds));
  std::vector<target::Sample> samples;
  for (Subject &subject : subjects)
    addTo(samples, subject);
  target::Machine machine = targetOf(DeviceKind::Cpu).fit(samples, threads);
  LSTMC_ASSIGN(machine.callSeconds, secondsOfCall(threads));
  LSTMC_ASSIGN(machine.link, measureLink(threads, quick ? kQuickHopRounds : kHopRounds));
  return machine;
}

} // namespace lstmc::planning
