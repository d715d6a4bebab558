// Says what accelerators do while a network trains.
#pragma once

#include <string>
#include <vector>

#include "backends/registry/Accelerators.h"
#include "executor/training/TrainEvents.h"
#include "frontend/cli/Console.h"

namespace lstmc::cli {

/// A line at every line of the log: free memory and busy share of each accelerator, where they are
/// known.
class DeviceWatch : public training::TrainObserver {
public:
  /// `devices` are those of this process.
  DeviceWatch(const Console &console, std::vector<std::string> devices)
      : console_(console), devices_(std::move(devices)) {}

  void update(const training::UpdateEvent &) override {
    if (const std::string text = acceleratorLoadText(devices_); !text.empty())
      console_.say(text);
  }

private:
  const Console &console_;
  std::vector<std::string> devices_;
};

} // namespace lstmc::cli
