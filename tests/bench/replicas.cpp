// bench_replicas PACKAGE [FLIPS]: what comparing replicas costs in an update, and whether each of
// FLIPS (1,000) bits, flipped in a random place of a random copy, is found and named correctly.
// Exit 1 if one is not.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

#include <fmt/format.h>

#include "backends/registry/Devices.h"
#include "executor/base/Quote.h"
#include "executor/package/Plan.h"
#include "executor/session/Binding.h"
#include "executor/session/Session.h"

namespace lstmc {
namespace {

constexpr int kTimes = 15;

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

/// Median of the times without the first.
template <typename F> double median(F work) {
  std::vector<double> times;
  for (int i = 0; i <= kTimes; ++i) {
    auto begin = std::chrono::steady_clock::now();
    work();
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin() + 1, times.begin() + 1 + kTimes / 2, times.end());
  return times[1 + kTimes / 2];
}

/// How many of the flips are found and named.
int found(Session &session, int flips) {
  const package::PackageData &data = session.package().data();
  std::mt19937_64 random(11);
  int count = 0;
  for (int flip = 0; flip < flips; ++flip) {
    const package::Parameter &parameter = data.parameters[random() % data.parameters.size()];
    const package::Buffer &buffer =
        data.buffers[parameter.buffers[random() % parameter.buffers.size()]];
    Tensor copy = session::bind(buffer, session.device(buffer.device));
    uint64_t bit = random() % (8 * uint64_t(copy.elements()) * dtypeBytes(copy.dtype));
    auto turn = [&] { copy.as<uint8_t>()[bit / 8] ^= uint8_t(1u << bit % 8); };
    turn();
    Status status = session.compareReplicas();
    turn();
    count += !status.ok() && status.error().code == ErrorCode::E0702 &&
             status.error().message.find("parameter " + inQuotes(parameter.name)) == 0 &&
             status.error().message.find(data.devices[buffer.device].name) != std::string::npos;
  }
  orQuit(session.compareReplicas());
  return count;
}

int run(const char *file, int flips) {
  package::Package::Pointer package = orQuit(package::Package::open(file));
  auto devices = orQuit(makeDevices(package::deviceList(package->data()), {1}));
  auto session = orQuit(Session::create(package, std::move(devices)));
  orQuit(session->initialise(1));
  session->setScalar("learning_rate", 0.0);
  double step = median([&] { orQuit(session->run("step")); });
  double comparison = median([&] { orQuit(session->compareReplicas()); });
  int named = found(*session, flips);
  fmt::print("| devices | update ms | comparison ms | of an update | flips | found and named "
             "|\n|---|---|---|---|---|---|\n"
             "| {} | {:.3f} | {:.3f} | {:.2f} % | {} | {} |\n",
             package::deviceList(package->data()), 1e3 * step, 1e3 * comparison,
             100 * comparison / step, flips, named);
  return named == flips ? 0 : 1;
}

} // namespace
} // namespace lstmc

int main(int count, char **words) {
  if (count < 2)
    return 2;
  return lstmc::run(words[1], count > 2 ? std::atoi(words[2]) : 1000);
}
