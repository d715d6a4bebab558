// A device as forecasts see it: data, which the target of the device's kind interprets.
#pragma once

#include <cstdint>
#include <vector>

namespace lstmc::target {

/// How messages come to a device.
struct Link {
  double seconds = 3e-6; ///< from a send to the begin of what is received
  double bytesPerSecond = 8e9;
};

/// How a host is connected to all others. Each direction is a way of its own.
struct Nic {
  double outBytesPerSecond = 1.25e9, inBytesPerSecond = 1.25e9;
  double outSeconds = 1.5e-5, inSeconds = 1.5e-5; ///< that a message takes besides
};

struct Machine {
  std::vector<double> figures = {}; ///< what Target::figureNames() names; empty: those built into
                                    ///< the target
  double callSeconds = 0;           ///< of a run of an entry, beyond its launches
  Link link = {};                   ///< from any other device,
  std::vector<Link> links = {};     ///< or, where there are any, by the device that sends
  int measuredThreads = 0;          ///< 0: nothing was measured
  int host = -1; ///< devices of one number share its `nic`; -1: none has one, links are all
  Nic nic = {};

  const Link &linkFrom(uint32_t device) const {
    return device < links.size() ? links[device] : link;
  }
};

/// The machine of each of a package's devices, in their order; or one for all of them.
using Machines = std::vector<Machine>;

/// A device in three numbers, as the description of a cluster has it, and for estimates of what is
/// no launch yet.
struct Speeds {
  double flopsPerSecond; ///< f32, an fma counted as two, of a product
  double bytesPerSecond; ///< streamed from memory
  double launchSeconds;  ///< of a launch that does nothing
};

} // namespace lstmc::target
