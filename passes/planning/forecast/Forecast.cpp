#include "passes/planning/forecast/Forecast.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <unordered_map>
#include <utility>

#include "backends/registry/Targets.h"
#include "passes/planning/forecast/SideBySide.h"

namespace lstmc::planning {

namespace {

class Simulation {
public:
  Simulation(const package::PackageData &package, const package::Entry &entry,
             const target::Machines &machines, const Targets &targets, double realSteps,
             const Stretch *replicas = nullptr)
      : package_(package), entry_(entry), machines_(machines), targets_(targets),
        realSteps_(realSteps), next_(entry.programs.size()), arrived_(entry.programs.size()),
        linkFree_(entry.programs.size()), nics_(machines) {
    if (replicas)
      often_ = replicas->timesOf(package, entry);
    for (const package::DeviceProgram &program : entry.programs)
      lanes_.emplace_back(machineOf(program.device).callSeconds);
  }

  EntryTimes run() {
    for (const package::DeviceProgram &program : entry_.programs)
      times_.programs.push_back({program.device, {}, 0, 0});
    runAll([](const package::DeviceProgram &program) { return size_t(program.commit); });
    if (std::any_of(entry_.programs.begin(), entry_.programs.end(),
                    [](auto &program) { return program.commit < program.launches.size(); }))
      for (const double now = latest(); SideBySide & lane : lanes_)
        lane.comeTogether(now);
    runAll([](const package::DeviceProgram &program) { return program.launches.size(); });
    times_.seconds = latest();
    for (size_t p = 0; p < entry_.programs.size(); ++p)
      if (isOnStreams(entry_.programs[p]))
        times_.programs[p].busy = busySeconds(times_.programs[p].launches);
    times_.hosts = nics_.times();
    return std::move(times_);
  }

private:
  double latest() const {
    double latest = 0;
    for (const SideBySide &lane : lanes_)
      latest = std::max(latest, lane.end());
    return latest;
  }

  static bool isOnStreams(const package::DeviceProgram &program) {
    return std::ranges::any_of(program.launches,
                               [](const package::Launch &launch) { return launch.stream > 0; });
  }

  struct Span {
    double begin, seconds;
  };

  const target::Machine &machineOf(uint32_t device) const {
    return machines_[machines_.size() == 1 ? 0 : device];
  }

  /// Simulates every program up to its `end`, in order of time, so that interfaces know all
  /// messages posted before. By the order of messages (docs/package.md) one program can always
  /// continue.
  template <typename End> void runAll(End end) {
    for (size_t p = 0; p < entry_.programs.size(); ++p)
      due_.emplace(lanes_[p].end(), p);
    for (;;) {
      if (!due_.empty() && due_.top().first <= nics_.next()) {
        const auto [now, p] = due_.top();
        due_.pop();
        run(p, now, end(entry_.programs[p]));
      } else if (nics_.next() < Nics::kNever) {
        const double now = nics_.next();
        nics_.go([&](int64_t message, double time) { come(message, time, now); });
      } else {
        return;
      }
    }
  }

  /// Runs a program until it ends, waits, or would send later than now.
  void run(size_t p, double now, size_t end) {
    const auto &launches = entry_.programs[p].launches;
    while (next_[p] < end) {
      if (launches[next_[p]].kernel == KernelId::Send && lanes_[p].end() > now) {
        due_.emplace(lanes_[p].end(), p);
        return;
      }
      if (!advance(p)) {
        const auto [peer, message] = argumentsOf<ReceiveArguments>(launches[next_[p]]);
        waiting_[message] = p;
        return;
      }
    }
  }

  /// `time`: from when on the message can be received; known since `now`.
  void come(int64_t message, double time, double now) {
    sent_[message] = time;
    if (auto waits = waiting_.find(message); waits != waiting_.end()) {
      due_.emplace(std::max(now, lanes_[waits->second].end()), waits->second);
      waiting_.erase(waits);
    }
  }

  /// Simulates the next launch of a program; false if it waits for a message that has not been
  /// sent.
  bool advance(size_t p) {
    const package::Launch &launch = entry_.programs[p].launches[next_[p]];
    const target::Work work = target::workOf(package_, launch, realSteps_);
    std::optional<Span> span;
    if (launch.kernel == KernelId::Receive)
      span = received(p, launch, work);
    else if (launch.kernel == KernelId::Send)
      span = sent(p, launch, work);
    else
      span = computed(p, launch, work);
    if (!span)
      return false;
    DeviceTimes &device = times_.programs[p];
    device.launches.push_back({span->begin, span->begin + span->seconds});
    device.busy += span->seconds;
    if (isTransfer(launch.kernel)) // at which a device's graph is cut, so all streams wait for it
      lanes_[p].comeTogether(span->begin + span->seconds);
    ++next_[p];
    return true;
  }

  Times often(size_t p) const { return often_.empty() ? Times() : often_[p][next_[p]]; }

  bool isBetweenHosts(uint32_t device, uint32_t peer) const {
    return machineOf(device).host != machineOf(peer).host;
  }

  /// Whether a message carries an input, which every rank of a job reads itself.
  bool isGiven(const package::Launch &message) const {
    const package::Kind kind = package_.buffers[message.operands[0].buffer].kind;
    return kind == package::Kind::Input || kind == package::Kind::Scalar;
  }

  /// Seconds of a launch, scaled by `times`.
  double secondsOf(uint32_t device, KernelId kernel, target::Work work, const Times &times) const {
    if (const double each = times.work / times.count; each != 1)
      for (int64_t *part : {&work.flops, &work.bytes, &work.functions, &work.rows})
        *part = int64_t(double(*part) * each);
    return times.count * targets_[device]->launchSeconds(machineOf(device), kernel, work);
  }

  /// Seconds to copy a message out of its buffer, or into it.
  double copySeconds(uint32_t device, const target::Work &message, const Times &times) const {
    target::Work work;
    work.bytes = 2 * message.bytes;
    return secondsOf(device, KernelId::Copy, work, times);
  }

  /// Nullopt if the message has not been sent yet.
  std::optional<Span> received(size_t p, const package::Launch &launch, const target::Work &work) {
    const uint32_t device = entry_.programs[p].device;
    const auto [peer, message] = argumentsOf<ReceiveArguments>(launch);
    auto sent = sent_.find(message);
    if (sent == sent_.end())
      return std::nullopt;
    if (isBetweenHosts(device, uint32_t(peer)))
      return Span{std::max(lanes_[p].end(), sent->second), copySeconds(device, work, often(p))};
    const target::MessageCost cost =
        targets_[device]->messageCost(machineOf(device), uint32_t(peer), double(work.bytes));
    const double from = sent->second + cost.latency, begin = std::max(lanes_[p].end(), from);
    if (!cost.byItself)
      return Span{begin, cost.seconds};
    arrived_[p] = std::max(from, arrived_[p]) + cost.seconds;
    return Span{begin, std::max(0.0, arrived_[p] - begin)};
  }

  /// Messages leave a device one after the other, whatever the distance of their receivers.
  Span sent(size_t p, const package::Launch &launch, const target::Work &work) {
    const auto [peer, message] = argumentsOf<SendArguments>(launch);
    const auto receiver = uint32_t(peer);
    const uint32_t sender = entry_.programs[p].device;
    if (isBetweenHosts(sender, receiver)) {
      if (isGiven(launch)) {
        come(message, lanes_[p].end(), lanes_[p].end());
        return {lanes_[p].end(), 0};
      }
      const Times times = often(p);
      const double seconds = copySeconds(sender, work, times);
      times_.programs[p].sentBytes += work.bytes;
      nics_.post(lanes_[p].end() + seconds, message, machineOf(sender).host,
                 machineOf(receiver).host, times.out * double(work.bytes),
                 times.in * double(work.bytes));
      return {lanes_[p].end(), seconds};
    }
    times_.programs[p].sentBytes += work.bytes;
    const double leaves = std::max(lanes_[p].end(), linkFree_[p]);
    linkFree_[p] =
        leaves +
        targets_[receiver]->messageCost(machineOf(receiver), sender, double(work.bytes)).seconds;
    come(message, leaves, lanes_[p].end());
    return {lanes_[p].end(), 0};
  }

  Span computed(size_t p, const package::Launch &launch, const target::Work &work) {
    const uint32_t device = entry_.programs[p].device;
    const double seconds = secondsOf(device, launch.kernel, work, often(p));
    const target::Speeds speeds = targets_[device]->speeds(machineOf(device));
    const double bytes = double(work.bytes) + double(work.stepsAgain()) * double(work.stepBytes);
    if (bytes / speeds.bytesPerSecond > double(work.flops) / speeds.flopsPerSecond)
      times_.programs[p].moving += seconds;
    return {lanes_[p].place(launch, seconds,
                            targets_[device]->shareOf(machineOf(device), launch.kernel, work)),
            seconds};
  }

  const package::PackageData &package_;
  const package::Entry &entry_;
  const target::Machines &machines_;
  const Targets &targets_;
  const double realSteps_;
  std::vector<std::vector<Times>> often_; ///< by program and launch; empty: each once
  std::vector<SideBySide> lanes_;         ///< by program
  std::vector<size_t> next_;
  std::vector<double> arrived_;  ///< by program: when all that it received over a network had come
  std::vector<double> linkFree_; ///< by program: when all that it sent has left
  std::unordered_map<int64_t, double> sent_; ///< message to the moment when it leaves or has come
  std::unordered_map<int64_t, size_t> waiting_; ///< message to the program that waits for it
  Nics nics_;
  /// Times at which programs can continue; the earliest first, then by program.
  std::priority_queue<std::pair<double, size_t>, std::vector<std::pair<double, size_t>>,
                      std::greater<>>
      due_;
  EntryTimes times_;
};

} // namespace

int64_t EntryTimes::sentBytes() const {
  int64_t bytes = 0;
  for (const DeviceTimes &program : programs)
    bytes += program.sentBytes;
  return bytes;
}

double EntryTimes::idleFraction(uint32_t device) const {
  for (const DeviceTimes &program : programs)
    if (program.device == device && seconds > 0)
      return 1 - program.busy / seconds;
  return 1;
}

static Targets targetsOf(const package::PackageData &package) {
  Targets targets;
  for (const package::Device &device : package.devices)
    targets.push_back(&targetOf(device.name));
  return targets;
}

EntryTimes forecast(const package::PackageData &package, const package::Entry &entry,
                    const target::Machines &machines, double realSteps) {
  return forecast(package, entry, machines, targetsOf(package), realSteps);
}

EntryTimes forecast(const package::PackageData &package, const package::Entry &entry,
                    const target::Machines &machines, const Stretch &replicas) {
  return Simulation(package, entry, machines, targetsOf(package), 1, &replicas).run();
}

EntryTimes forecast(const package::PackageData &package, const package::Entry &entry,
                    const target::Machines &machines, const Targets &targets, double realSteps) {
  return Simulation(package, entry, machines, targets, realSteps).run();
}

} // namespace lstmc::planning
