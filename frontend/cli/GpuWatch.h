// Says what GPUs do while a network trains.
#pragma once

#include <string>
#include <vector>

#include "backends/registry/GpuFacts.h"
#include "executor/training/TrainEvents.h"
#include "frontend/cli/Console.h"

namespace lstmc::cli {

/// A line at every line of the log: free memory and busy share of each GPU, where NVML says them.
class GpuWatch : public training::TrainObserver {
public:
  /// `devices` are those of this process.
  GpuWatch(const Console &console, std::vector<std::string> devices)
      : console_(console), devices_(std::move(devices)) {}

  void update(const training::UpdateEvent &) override {
    if (const std::string text = gpuLoadText(devices_); !text.empty())
      console_.say("gpus      " + text);
  }

private:
  const Console &console_;
  std::vector<std::string> devices_;
};

} // namespace lstmc::cli
