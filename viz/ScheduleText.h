// Texts common to charts and traces of a schedule.
#pragma once

#include <string>
#include <vector>

#include "passes/planning/forecast/Forecast.h"

namespace lstmc::viz {

/// "product of FullyConnected decoder: 1.2 ms, 400 FLOP, 80 bytes; net.lnet:7:9 y = ...".
std::string launchTitle(const package::PackageData &package, const package::Launch &launch,
                        double seconds);

/// A message between two devices.
struct MessageTime {
  int64_t number;
  uint32_t sender, receiver; ///< indices of devices
  double sent, taken;
};

/// The messages of an entry, ordered by number.
std::vector<MessageTime> messagesOf(const package::Entry &entry, const planning::EntryTimes &times);

} // namespace lstmc::viz
