// Devices that have a part in one graph.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "executor/device/Device.h"

namespace lstmc {

/// A program of which launches are in a graph, and its device.
struct GraphShare {
  Device *device;
  PreparedProgram *program;
};

/// A device that keeps graphs (Device::keepsGraphs) which other devices may have a part in. One
/// thread gives all of them what is theirs then, and no device waits for the host inside.
class GraphSharer {
public:
  virtual ~GraphSharer() = default;

  /// Whether one graph may have launches of both, where each reads what the other has.
  virtual bool sharesGraphs(const Device &other) const = 0;
  /// Whether the program's launches may be in it: the host carries out none of them.
  virtual bool mayBeShared(const PreparedProgram &program) const = 0;
  /// As Device::runGraph(), of what `give` gives all these devices, of which the first is this one.
  virtual void runSharedGraph(std::span<const GraphShare> all, size_t number,
                              const std::function<void()> &give) = 0;
  /// What the stream is given from now on waits for the event of another device, if that was
  /// recorded in the graph that is being given; else it comes before in any case.
  virtual void waitFor(uint32_t stream, const Device &other, uint32_t event) = 0;
};

} // namespace lstmc
