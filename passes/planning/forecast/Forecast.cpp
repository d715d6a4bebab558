#include "passes/planning/forecast/Forecast.h"

#include <algorithm>
#include <map>
#include <optional>

#include "backends/registry/Targets.h"

namespace lstmc::planning {

namespace {

class Simulation {
public:
  Simulation(const package::PackageData &package, const package::Entry &entry,
             const target::Machines &machines, const Targets &targets, double realSteps)
      : package_(package), entry_(entry), machines_(machines), targets_(targets),
        realSteps_(realSteps), clocks_(entry.programs.size()), next_(entry.programs.size()),
        arrived_(entry.programs.size()), linkFree_(entry.programs.size()) {}

  EntryTimes run() {
    for (const package::DeviceProgram &program : entry_.programs)
      times_.programs.push_back({program.device, {}, 0, 0});
    runAll([](const package::DeviceProgram &program) { return size_t(program.commit); });
    if (std::any_of(entry_.programs.begin(), entry_.programs.end(),
                    [](auto &program) { return program.commit < program.launches.size(); }))
      std::fill(clocks_.begin(), clocks_.end(), latest());
    runAll([](const package::DeviceProgram &program) { return program.launches.size(); });
    times_.seconds = latest();
    return std::move(times_);
  }

private:
  double latest() const {
    return clocks_.empty() ? 0 : *std::max_element(clocks_.begin(), clocks_.end());
  }

  struct Span {
    double begin, seconds;
  };

  const target::Machine &machineOf(uint32_t device) const {
    return machines_[machines_.size() == 1 ? 0 : device];
  }

  /// Every program up to its `end`. The order of their messages (docs/package.md) lets one of them
  /// always go on.
  template <typename End> void runAll(End end) {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t p = 0; p < entry_.programs.size(); ++p)
        while (next_[p] < end(entry_.programs[p]) && advance(p))
          moved = true;
    }
  }

  /// The next launch of a program; false where it waits for a message that has not been sent yet.
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
    clocks_[p] = span->begin + span->seconds;
    ++next_[p];
    return true;
  }

  /// None where nobody has sent it yet.
  std::optional<Span> received(size_t p, const package::Launch &launch, const target::Work &work) {
    const uint32_t device = entry_.programs[p].device;
    const auto [peer, message] = argumentsOf<ReceiveArguments>(launch);
    auto sent = sent_.find(message);
    if (sent == sent_.end())
      return std::nullopt;
    const target::MessageCost cost =
        targets_[device]->messageCost(machineOf(device), uint32_t(peer), double(work.bytes));
    const double from = sent->second + cost.latency, begin = std::max(clocks_[p], from);
    if (!cost.byItself)
      return Span{begin, cost.seconds};
    arrived_[p] = std::max(from, arrived_[p]) + cost.seconds;
    return Span{begin, std::max(0.0, arrived_[p] - begin)};
  }

  /// One message after the other leaves a device, however far their receivers are.
  Span sent(size_t p, const package::Launch &launch, const target::Work &work) {
    const auto [peer, message] = argumentsOf<SendArguments>(launch);
    const auto receiver = uint32_t(peer);
    const double leaves = std::max(clocks_[p], linkFree_[p]);
    linkFree_[p] = leaves + targets_[receiver]
                                ->messageCost(machineOf(receiver), entry_.programs[p].device,
                                              double(work.bytes))
                                .seconds;
    sent_[message] = leaves;
    times_.programs[p].sentBytes += work.bytes;
    return {clocks_[p], 0};
  }

  Span computed(size_t p, const package::Launch &launch, const target::Work &work) const {
    const uint32_t device = entry_.programs[p].device;
    return {clocks_[p], targets_[device]->launchSeconds(machineOf(device), launch.kernel, work)};
  }

  const package::PackageData &package_;
  const package::Entry &entry_;
  const target::Machines &machines_;
  const Targets &targets_;
  const double realSteps_;
  std::vector<double> clocks_; ///< by program
  std::vector<size_t> next_;
  std::vector<double> arrived_;  ///< by program: when all that it received over a network had come
  std::vector<double> linkFree_; ///< by program: when all that it sent has left
  std::map<int64_t, double> sent_; ///< message to the moment when it leaves
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

EntryTimes forecast(const package::PackageData &package, const package::Entry &entry,
                    const target::Machines &machines, double realSteps) {
  Targets targets;
  for (const package::Device &device : package.devices)
    targets.push_back(&targetOf(device.name));
  return forecast(package, entry, machines, targets, realSteps);
}

EntryTimes forecast(const package::PackageData &package, const package::Entry &entry,
                    const target::Machines &machines, const Targets &targets, double realSteps) {
  return Simulation(package, entry, machines, targets, realSteps).run();
}

} // namespace lstmc::planning
