#include "backends/conformance/Conformance.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "backends/conformance/Cases.h"
#include "backends/conformance/DeviceRun.h"
#include "cmake/SourceFolder.h"
#include "executor/reference/Reference.h"

namespace lstmc::conformance {

namespace {

/// Name and reason of every listed exception.
std::map<std::string, std::string> exceptionsOf(const Target &target) {
  std::map<std::string, std::string> result;
  if (target.unsupported.empty())
    return result;
  std::ifstream file(std::string(LSTMC_SOURCE_DIR "/") + target.unsupported);
  EXPECT_TRUE(file) << target.unsupported << " cannot be read";
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    size_t colon = line.find(": ");
    std::string name = line.substr(0, colon), reason;
    if (colon != std::string::npos)
      reason = line.substr(colon + 2);
    EXPECT_FALSE(reason.empty()) << target.unsupported << ": " << name << " has no reason";
    result[name] = reason;
  }
  return result;
}

/// Devices are kept, because starting five threads on two processors takes a while.
Device &deviceOf(const Target &target, int threads) {
  static std::map<std::pair<std::string, int>, std::unique_ptr<Device>> devices;
  std::unique_ptr<Device> &device = devices[{target.name, threads}];
  if (!device) {
    auto made = target.make(threads);
    if (!made.ok()) // then there is nothing to test
      throw std::runtime_error(made.error().text());
    device = std::move(*made);
  }
  return *device;
}

/// A description of the first failure; empty if there was none.
std::string failureOf(const Target &target, const Case &c) {
  const TestLaunch launch = c.make();
  TestLaunch expected = launch.clone();
  expected.run(reference::kernel(launch.id));
  for (int threads : target.threads) {
    TestLaunch run = launch.clone();
    if (Status status = runOn(deviceOf(target, threads), run); !status.ok())
      return status.error().text();
    if (std::string difference = run.difference(expected); !difference.empty())
      return fmt::format("on {} thread{}: {}", threads, threads == 1 ? "" : "s", difference);
  }
  return "";
}

} // namespace

Target hostTarget(std::string name, KernelChooser choose, std::string unsupported,
                  std::vector<int> threads) {
  auto make = [name, choose](int count) { return makeHostDevice(name, choose, count); };
  return {std::move(name), make, std::move(unsupported), std::move(threads)};
}

std::vector<KernelId> allKernels() {
  std::vector<KernelId> result;
  for (const KernelRecord &record : kernelRecords())
    if (!isTransfer(record.id))
      result.push_back(record.id);
  return result;
}

std::vector<Case> casesOf(KernelId id) {
  static const std::vector<Case> kAll = [] {
    std::vector<Case> all;
    addMovementCases(all);
    addFusedCases(all);
    addProductCases(all);
    addRecurrenceCases(all);
    addReductionCases(all);
    addLossCases(all);
    addInitialCases(all);
    return all;
  }();
  std::vector<Case> result;
  const std::string prefix = std::string(kernelRecord(id).name) + "/";
  for (const Case &c : kAll)
    if (c.name.starts_with(prefix))
      result.push_back(c);
  return result;
}

void conform(const Target &target, KernelId id) {
  std::map<std::string, std::string> exceptions = exceptionsOf(target);
  const std::string kernel(kernelRecord(id).name);
  const std::vector<Case> cases = casesOf(id);
  ASSERT_FALSE(cases.empty()) << kernel << " has no case";

  const char *only = std::getenv("LSTMC_CASE");
  bool passes = true;
  for (const Case &c : cases) {
    if (only) {
      if (c.name.find(only) == std::string::npos)
        continue;
      fmt::print("{}: {}\n", target.name, c.name);
      std::fflush(stdout);
    }
    const std::string failure = failureOf(target, c);
    passes &= failure.empty();
    if (exceptions.count(c.name)) {
      EXPECT_FALSE(failure.empty()) << target.name << ": " << c.name
                                    << " passes: remove its line from " << target.unsupported;
      exceptions.erase(c.name);
    } else if (!exceptions.count(kernel)) {
      EXPECT_EQ(failure, "") << target.name << ": " << c.name;
    }
  }
  if (exceptions.count(kernel)) {
    EXPECT_FALSE(passes) << target.name << ": all of " << kernel << " passes: remove its line from "
                         << target.unsupported;
  }
  for (const auto &[name, reason] : exceptions)
    EXPECT_FALSE(name.starts_with(kernel + "/"))
        << target.unsupported << " lists " << name << ", which is no case";
}

} // namespace lstmc::conformance
