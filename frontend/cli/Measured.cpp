#include "frontend/cli/Measured.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "executor/session/Values.h"

namespace lstmc::cli {

namespace {

using Clock = std::chrono::steady_clock;

/// Seconds of each launch, by device and position, of the last run that was watched.
struct Stopwatch : SessionObserver {
  std::map<std::pair<std::string, size_t>, double> seconds;
  Clock::time_point begin;

  void before(const LaunchView &) override { begin = Clock::now(); }
  void after(const LaunchView &view) override {
    seconds[{std::string(view.device), view.index}] = std::chrono::duration<double>(Clock::now() - begin).count();
  }
};

/// When each device came to each of its steps, in order. Devices write their own list only.
struct Steps {
  struct Step {
    size_t launch;
    Clock::time_point at;
  };
  std::vector<std::vector<Step>> byDevice;

  DeviceHook hook() {
    return [this](const DeviceMoment &moment) { byDevice[moment.device].push_back({moment.launch, Clock::now()}); };
  }
};

Status runOnce(Session &session, const std::string &entry, int64_t update) {
  session.setScalar("learning_rate", 1e-3);
  session.setScalar("update", update);
  return session.run(entry);
}

Status fillInputs(Session &session, const package::Entry &entry, const lstmc::Limits &limits) {
  for (const package::Binding &binding : entry.inputs)
    if (binding.role != "scalar")
      LSTMC_TRY(session::setInput(session, entry.name, binding.name + "=random:1", limits));
  return {};
}

/// The launches of a program laid out within the steps that its device came to. `alone`: what each takes with nothing beside it.
class Layout {
public:
  Layout(const package::DeviceProgram &program, const std::vector<Steps::Step> &steps, std::vector<double> alone, Clock::time_point begin,
         double end)
      : program_(program), alone_(std::move(alone)), end_(end) {
    for (const Steps::Step &step : steps)
      steps_.push_back({step.launch, std::chrono::duration<double>(step.at - begin).count()});
  }

  std::vector<cpu::LaunchTime> times() const {
    std::vector<cpu::LaunchTime> times(program_.launches.size());
    for (size_t s = 0; s < steps_.size(); ++s) {
      bool last = s + 1 == steps_.size();
      size_t to = last ? program_.launches.size() : steps_[s + 1].first;
      // A step may be a wait before a launch that the next step carries out.
      if (to > steps_[s].first)
        layOut(times, steps_[s].first, to, steps_[s].second, last ? end_ : steps_[s + 1].second);
    }
    return times;
  }

private:
  /// Launches [from, to) one behind the other, together as long as the step; behind its last launch a part of the program has a wait
  /// for all devices, which is no work.
  void layOut(std::vector<cpu::LaunchTime> &times, size_t from, size_t to, double begin, double end) const {
    double sum = 0;
    for (size_t i = from; i < to; ++i)
      sum += alone_[i];
    bool endsInWait = to == program_.commit || to == program_.launches.size();
    double scale = sum > 0 ? (end - begin) / sum : 0;
    if (endsInWait)
      scale = std::min(scale, 1.0);
    for (size_t i = from; i < to; ++i) {
      double seconds = sum > 0 ? alone_[i] * scale : (i + 1 == to && !endsInWait ? end - begin : 0);
      times[i] = {begin, begin + seconds};
      begin += seconds;
    }
  }

  const package::DeviceProgram &program_;
  std::vector<double> alone_;
  double end_;
  std::vector<std::pair<size_t, double>> steps_; ///< first launch, and when
};

/// Nobody works while it waits for a message: a receive begins when it has been sent. Behind the last one of a part all devices wait, so
/// how long that took is not known.
void takeOutWaits(const package::Entry &entry, cpu::EntryTimes &times) {
  std::map<int64_t, double> sent;
  for (bool sends : {true, false})
    for (size_t p = 0; p < entry.programs.size(); ++p)
      for (size_t i = 0; i < entry.programs[p].launches.size(); ++i) {
        const package::Launch &launch = entry.programs[p].launches[i];
        cpu::LaunchTime &time = times.programs[p].launches[i];
        if (sends && launch.kernel == KernelId::Send)
          sent[launch.ints[1]] = time.end = time.begin;
        if (!sends && launch.kernel == KernelId::Receive) {
          time.begin = std::max(time.begin, sent[launch.ints[1]]);
          time.end = std::max(time.begin, time.end);
        }
      }
}

} // namespace

Result<cpu::EntryTimes> measuredTimes(const Model &model, const Options &options, const package::Entry &entry) {
  constexpr int kWarmUp = 3;
  const package::PackageData &data = model.package->data();
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  Steps steps;
  steps.byDevice.resize(data.devices.size());
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(model, options, Engine::Fast, steps.hook()));
  LSTMC_TRY(fillInputs(*session, entry, limits));
  Stopwatch watch;
  session->setObserver(&watch);
  for (int run = 0; run < kWarmUp; ++run)
    LSTMC_TRY(runOnce(*session, entry.name, run + 1));
  session->setObserver(nullptr);
  Clock::time_point begin;
  for (int run = 0; run < kWarmUp; ++run) {
    for (std::vector<Steps::Step> &list : steps.byDevice)
      list.clear();
    begin = Clock::now();
    LSTMC_TRY(runOnce(*session, entry.name, kWarmUp + run + 1));
  }
  cpu::EntryTimes times;
  times.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  for (const package::DeviceProgram &program : entry.programs) {
    std::vector<double> alone;
    for (size_t i = 0; i < program.launches.size(); ++i)
      alone.push_back(isTransfer(program.launches[i].kernel) ? 0 : watch.seconds[{data.devices[program.device].name, i}]);
    std::vector<Steps::Step> &list = steps.byDevice[program.device];
    if (list.empty()) // one device alone comes to no steps
      list.push_back({0, begin});
    times.programs.push_back({program.device, Layout(program, list, std::move(alone), begin, times.seconds).times(), 0, 0});
  }
  takeOutWaits(entry, times);
  for (cpu::DeviceTimes &program : times.programs)
    for (const cpu::LaunchTime &time : program.launches)
      program.busy += time.end - time.begin;
  return times;
}

} // namespace lstmc::cli
