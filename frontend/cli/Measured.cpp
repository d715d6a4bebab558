#include "frontend/cli/Measured.h"

#include <chrono>

#include "executor/session/Values.h"

namespace lstmc::cli {

namespace {

/// When launches of an entry ran in the last run of it.
struct Watch : SessionTimer {
  explicit Watch(const package::Entry &entry) : entry(entry) {}

  void ran(const package::Package &, const package::Entry &of,
           std::span<const std::span<const LaunchInterval>> times) override {
    if (of.name != entry.name)
      return;
    programs.clear();
    for (std::span<const LaunchInterval> program : times)
      programs.emplace_back(program.begin(), program.end());
  }

  const package::Entry &entry;
  std::vector<std::vector<LaunchInterval>> programs;
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

} // namespace

Result<planning::EntryTimes> measuredTimes(const Model &model, const Options &options,
                                           const package::Entry &entry) {
  constexpr int kRuns = 5; // all but the last warm up
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(model, options));
  LSTMC_TRY(fillInputs(*session, entry, limits));
  Watch watch(entry);
  session->setTimer(&watch);
  LaunchInterval::Clock::time_point begin, end;
  for (int run = 1; run <= kRuns; ++run) {
    begin = LaunchInterval::Clock::now();
    LSTMC_TRY(runOnce(*session, entry.name, run));
    end = LaunchInterval::Clock::now();
  }
  auto seconds = [&](LaunchInterval::Clock::time_point moment) {
    return std::chrono::duration<double>(moment - begin).count();
  };
  planning::EntryTimes times;
  times.seconds = seconds(end);
  for (size_t p = 0; p < watch.programs.size(); ++p) {
    planning::DeviceTimes &program =
        times.programs.emplace_back(planning::DeviceTimes{entry.programs[p].device, {}, 0, 0});
    for (const LaunchInterval &launch : watch.programs[p]) {
      program.launches.push_back({seconds(launch.begin), seconds(launch.end)});
      program.busy += program.launches.back().end - program.launches.back().begin;
    }
  }
  return times;
}

} // namespace lstmc::cli
