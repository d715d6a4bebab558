// schedules [--schedules N] [--faults N] [--updates N] PACKAGE...: trains packages of several
// devices with delays at random steps, new ones each time. The bits have to be those of running the
// programs one after the other. Then with faults: at a random step a device throws, has no memory
// or hangs. All devices have to stop with an error that names it, and a new start has to give the
// same bits. Exit 1 if any of this fails.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "backends/registry/Devices.h"
#include "executor/base/Hash.h"
#include "executor/base/Numeric.h"
#include "executor/base/Philox.h"
#include "executor/package/Plan.h"
#include "executor/session/Session.h"

namespace lstmc {
namespace {

/// Ends the program: the arguments cannot be used.
template <typename T> T orQuit(Result<T> result) {
  if (result.ok())
    return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().text());
  std::exit(2);
}
/// Integers 0 to 4 and floats in [-1, 1), from name, element and update.
void feed(Session &session, const package::Entry &entry, int64_t update) {
  for (const package::Binding &input : entry.inputs) {
    if (input.role == "scalar")
      continue;
    Tensor tensor = orQuit(session.input(entry.name, input.name));
    uint64_t seed = hashBytes(input.name.data(), input.name.size());
    for (int64_t i = 0; i < tensor.elements(); ++i) {
      double value = randomUniform(seed, uint64_t(i), 0, uint32_t(update));
      writeElement(tensor.data, tensor.dtype, i,
                   isFloat(tensor.dtype) ? 2 * value - 1 : double(int(5 * value)));
    }
  }
}

/// Weights, states and metrics after some updates from the start.
Result<uint64_t> train(Session &session, int updates) {
  const package::PackageData &data = session.package().data();
  const package::Entry &step = data.entries[*session.package().findEntry("step")];
  LSTMC_TRY(session.initialise(1));
  session.setScalar("learning_rate", 0.05);
  std::vector<uint64_t> hashes;
  auto add = [&](const Tensor &tensor) {
    hashes.push_back(hashBytes(tensor.data, size_t(tensor.elements()) * dtypeBytes(tensor.dtype)));
  };
  for (int64_t update = 1; update <= updates; ++update) {
    session.setScalar("update", update);
    feed(session, step, update);
    LSTMC_TRY(session.run("step"));
    LSTMC_TRY(session.compareReplicas());
    for (const package::Binding &output : step.outputs)
      add(orQuit(session.output("step", output.name)));
  }
  for (const package::State &state : data.states)
    add(orQuit(session.state(state.name)));
  hashes.push_back(session.weightsHash());
  return combineHashes(hashes);
}

/// The delays of schedule `number`: each device has its own pace, and sometimes one stops for long.
void delay(uint64_t number, const DeviceMoment &moment, uint32_t run) {
  PhiloxBlock pace = randomBlock(number, 0, uint32_t(moment.device), 0);
  PhiloxBlock now = randomBlock(number, moment.launch + 1, uint32_t(moment.device), run);
  uint32_t often = uint32_t(1) << pace[0] % 6; // every step to every 32nd
  if (now[0] % 256 == 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  else if (now[1] % often == 0)
    std::this_thread::sleep_for(std::chrono::microseconds(now[2] % (1 + pace[1] % 200)));
  else if (now[3] % 2)
    std::this_thread::yield();
}

/// A package, and the result of training it.
class Trial {
public:
  Trial(const std::string &file, int updates)
      : file_(file), updates_(updates), package_(orQuit(package::Package::open(file))),
        steps_(package_->data().devices.size()) {
    if (!package_->findEntry("step")) {
      fmt::print(stderr, "{}: has no step\n", file);
      std::exit(2);
    }
    SessionOptions inTurn;
    inTurn.oneThread = true;
    want_ = orQuit(train(*open(inTurn), updates));
  }

  bool schedules(uint64_t count) {
    std::atomic<uint64_t> number{0};
    SessionOptions options;
    options.hook = [&](const DeviceMoment &moment) {
      delay(number.load(), moment, steps_[moment.device].fetch_add(1));
    };
    auto session = open(options);
    for (; number < count; ++number)
      if (!same(*session, fmt::format("schedule {}", number.load())))
        return false;
    fmt::print("{}: {} schedules on {} give {:016x}\n", file_, count,
               package::deviceList(package_->data()), want_);
    std::fflush(stdout);
    return true;
  }

  bool faults(uint64_t count) {
    std::atomic<uint32_t> device{0}, step{UINT32_MAX}, kind{0};
    SessionOptions options;
    options.deadline = std::chrono::milliseconds(400);
    options.hook = [&](const DeviceMoment &moment) {
      if (steps_[moment.device].fetch_add(1) == step && moment.device == device)
        fail(kind, moment);
    };
    auto session = open(options);
    if (!same(*session, "without a fault"))
      return false;
    std::vector<uint32_t> all(steps_.begin(), steps_.end());
    for (uint64_t number = 0; number < count; ++number) {
      PhiloxBlock random = randomBlock(7, number, 0, 0);
      device = random[0] % uint32_t(all.size());
      if (all[device] == 0)
        continue; // it has no work
      step = random[1] % all[device];
      kind = uint32_t(number % 3);
      restart();
      Result<uint64_t> broken = train(*session, updates_);
      std::string what = fmt::format("fault {}, {} at step {} of device {}", number,
                                     kKinds[kind].name, step.load(), device.load());
      step = UINT32_MAX;
      if (!named(broken, kKinds[kind], package_->data().devices[device].name)) {
        fmt::print("{}: {}: {}\n", file_, what,
                   broken.ok() ? "went unnoticed" : broken.error().text());
        return false;
      }
      if (!same(*session, "after " + what))
        return false;
    }
    fmt::print("{}: {} faults, each named\n", file_, count);
    std::fflush(stdout);
    return true;
  }

private:
  struct Kind {
    std::string_view name;
    ErrorCode code;
    std::string_view text; ///< contains the device
  };
  static constexpr Kind kKinds[] = {{"an exception", ErrorCode::E0803, "{} failed at "},
                                    {"no memory", ErrorCode::E0901, "{} failed at "},
                                    {"a hang", ErrorCode::E0802, "; {} was at "}};

  static void fail(uint32_t kind, const DeviceMoment &moment) {
    if (kind == 0)
      throw std::runtime_error("a fault");
    if (kind == 1)
      throw std::bad_alloc();
    while (!moment.stopped)
      std::this_thread::yield();
  }

  static bool named(const Result<uint64_t> &result, const Kind &kind, const std::string &device) {
    return !result.ok() && result.error().code == kind.code &&
           result.error().message.find(fmt::format(fmt::runtime(kind.text), device)) !=
               std::string::npos;
  }

  std::unique_ptr<Session> open(SessionOptions options) {
    auto devices = orQuit(makeDevices(package::deviceList(package_->data()), {1}));
    return orQuit(Session::create(package_, std::move(devices), std::move(options)));
  }
  void restart() {
    for (std::atomic<uint32_t> &count : steps_)
      count = 0;
  }
  bool same(Session &session, const std::string &what) {
    restart();
    Result<uint64_t> found = train(session, updates_);
    if (found.ok() && *found == want_)
      return true;
    fmt::print("{}: {} gives {}, want {:016x}\n", file_, what,
               found.ok() ? fmt::format("{:016x}", *found) : found.error().text(), want_);
    return false;
  }

  const std::string file_;
  const int updates_;
  package::Package::Pointer package_;
  std::vector<std::atomic<uint32_t>> steps_; ///< steps of each device since training began
  uint64_t want_ = 0;
};

} // namespace
} // namespace lstmc

int main(int count, char **words) {
  uint64_t schedules = 20, faults = 0;
  int updates = 3;
  bool same = true;
  for (int i = 1; i < count; ++i) {
    std::string_view word = words[i];
    if (word == "--schedules" && i + 1 < count)
      schedules = std::strtoull(words[++i], nullptr, 10);
    else if (word == "--faults" && i + 1 < count)
      faults = std::strtoull(words[++i], nullptr, 10);
    else if (word == "--updates" && i + 1 < count)
      updates = std::atoi(words[++i]);
    else {
      lstmc::Trial trial(words[i], updates);
      same &= trial.schedules(schedules) && trial.faults(faults);
    }
  }
  return same ? 0 : 1;
}
