#include "backends/cpu/compiler/Forecast.h"

#include <algorithm>
#include <map>
#include <optional>

namespace lstmc::cpu {

namespace {

class Simulation {
public:
  Simulation(const package::PackageData &package, const package::Entry &entry,
             const Machines &machines)
      : package_(package), entry_(entry), machines_(machines), clocks_(entry.programs.size()),
        linkFree_(entry.programs.size()), arrived_(entry.programs.size()),
        next_(entry.programs.size()) {}

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

  const Machine &machineOf(uint32_t device) const {
    return machines_[machines_.size() == 1 ? 0 : device];
  }

  /// Every program up to its `end`. Messages ascend in each, so that one of them can always go on.
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
    const package::DeviceProgram &program = entry_.programs[p];
    const package::Launch &launch = program.launches[next_[p]];
    DeviceTimes &device = times_.programs[p];
    Work work = workOf(package_, launch);
    double begin = clocks_[p], seconds;
    if (launch.kernel == KernelId::Receive) {
      const auto [peer, message] = argumentsOf<ReceiveArguments>(launch);
      auto sent = sent_.find(message);
      if (sent == sent_.end())
        return false;
      const Machine &machine = machineOf(program.device);
      const Link &link = machine.linkFrom(uint32_t(peer));
      const double takes = double(work.bytes) / link.bytesPerSecond,
                   from = sent->second + link.seconds;
      begin = std::max(begin, from);
      seconds = takes;
      // A network brings what was sent while its receiver is at work; in one memory the receiver
      // copies.
      if (!machine.links.empty()) {
        arrived_[p] = std::max(from, arrived_[p]) + takes;
        seconds = std::max(0.0, arrived_[p] - begin);
      }
    } else if (launch.kernel == KernelId::Send) {
      // One message after the other leaves a device, however far their receivers are.
      const auto [peer, message] = argumentsOf<SendArguments>(launch);
      double leaves = std::max(begin, linkFree_[p]);
      linkFree_[p] = leaves + double(work.bytes) /
                                  machineOf(uint32_t(peer)).linkFrom(program.device).bytesPerSecond;
      sent_[message] = leaves;
      device.sentBytes += work.bytes;
      seconds = 0;
    } else {
      seconds = machineOf(program.device).secondsOf(launch.kernel, work);
    }
    device.launches.push_back({begin, begin + seconds});
    device.busy += seconds;
    clocks_[p] = begin + seconds;
    ++next_[p];
    return true;
  }

  const package::PackageData &package_;
  const package::Entry &entry_;
  const Machines &machines_;
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
                    const Machines &machines) {
  return Simulation(package, entry, machines).run();
}

} // namespace lstmc::cpu
