// schedules [--schedules N] [--updates N] PACKAGE...: trains packages of several devices with
// delays at random steps, another set of them each time; every time the bits must be those of the
// programs carried out one after the other. Exit 1 where they are not.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
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

/// Ends the program: what is asked cannot be carried out.
template <typename T> T orQuit(Result<T> result) {
  if (result.ok())
    return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().text());
  std::exit(2);
}
void orQuit(const Status &status) {
  if (!status.ok()) {
    fmt::print(stderr, "{}\n", status.error().text());
    std::exit(2);
  }
}

/// Integers 0 to 4, floats in [-1, 1), by name, element and update.
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

/// Weights, states and what is measured, after some updates from the beginning.
uint64_t trained(Session &session, int updates) {
  const package::PackageData &data = session.package().data();
  const package::Entry &step = data.entries[*session.package().findEntry("step")];
  orQuit(session.initialise(1));
  session.setScalar("learning_rate", 0.05);
  std::vector<uint64_t> hashes;
  auto add = [&](const Tensor &tensor) {
    hashes.push_back(hashBytes(tensor.data, size_t(tensor.elements()) * dtypeBytes(tensor.dtype)));
  };
  for (int64_t update = 1; update <= updates; ++update) {
    session.setScalar("update", update);
    feed(session, step, update);
    orQuit(session.run("step"));
    orQuit(session.compareReplicas());
    for (const package::Binding &output : step.outputs)
      add(orQuit(session.output("step", output.name)));
  }
  for (const package::State &state : data.states)
    add(orQuit(session.state(state.name)));
  hashes.push_back(session.weightsHash());
  return combineHashes(hashes);
}

/// Of schedule `number`: each device has its own pace, and now and then one stops for long.
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

bool sameUnderAll(const std::string &file, uint64_t schedules, int updates) {
  package::Package::Pointer package = orQuit(package::Package::open(file));
  if (!package->findEntry("step")) {
    fmt::print(stderr, "{}: has no step\n", file);
    std::exit(2);
  }
  auto open = [&](SessionOptions options) {
    auto devices = orQuit(makeDevices(package::deviceList(package->data()), {1}));
    return orQuit(Session::create(package, std::move(devices), std::move(options)));
  };
  SessionOptions inTurn, delayed;
  inTurn.oneThread = true;
  const uint64_t want = trained(*open(inTurn), updates);
  std::atomic<uint64_t> number{0};
  std::vector<std::atomic<uint32_t>> steps(package->data().devices.size());
  delayed.hook = [&](const DeviceMoment &moment) {
    delay(number.load(), moment, steps[moment.device].fetch_add(1));
  };
  auto session = open(delayed);
  for (; number < schedules; ++number) {
    for (std::atomic<uint32_t> &count : steps)
      count = 0;
    if (uint64_t found = trained(*session, updates); found != want) {
      fmt::print("{}: schedule {} gives {:016x}, want {:016x}\n", file, number.load(), found, want);
      return false;
    }
  }
  fmt::print("{}: {} schedules on {} give {:016x}\n", file, schedules,
             package::deviceList(package->data()), want);
  std::fflush(stdout);
  return true;
}

} // namespace
} // namespace lstmc

int main(int count, char **words) {
  uint64_t schedules = 20;
  int updates = 3;
  bool same = true;
  for (int i = 1; i < count; ++i) {
    std::string_view word = words[i];
    if (word == "--schedules" && i + 1 < count)
      schedules = std::strtoull(words[++i], nullptr, 10);
    else if (word == "--updates" && i + 1 < count)
      updates = std::atoi(words[++i]);
    else
      same &= lstmc::sameUnderAll(words[i], schedules, updates);
  }
  return same ? 0 : 1;
}
