// Graphs that all devices of an entry share.
#pragma once

#include <memory>
#include <vector>

#include "executor/device/GraphSharer.h"
#include "executor/session/BoundEntry.h"

namespace lstmc::session {

/// The programs of an entry whose devices keep graphs and reach one another's memory: one thread
/// gives all of them their segments, messages are copies that wait for events, and what it gives
/// from one moment at which the host acts to the next is one graph. It acts before a launch whose
/// indices it counts, and between the parts.
class SharedGraph {
public:
  /// Of an entry whose messages the transport knows; null where a device, a launch or a message
  /// cannot be in such a graph. All arguments outlive it.
  static Result<std::shared_ptr<SharedGraph>> of(const BoundEntry &entry, const Devices &devices,
                                                 Transport &transport);

  struct Place {
    size_t program = 0, segment = 0;
  };
  /// Gives the devices a part of the entry, and returns before it is done. E0604 if a launch
  /// refuses an index. `at` is where it is, for who tells of an exception.
  Status give(const BoundEntry &entry, Part part, Place &at);

private:
  /// Consecutive steps in one graph.
  struct Graph {
    size_t first, last; ///< in `steps_`
  };
  /// A message's events: on the sender, that its value is there, and on the receiver, that it was
  /// taken.
  struct Events {
    uint32_t sent, taken;
  };

  explicit SharedGraph(const Devices &devices) : devices_(devices) {}

  bool order(const BoundEntry &entry, Part part);
  void cut(const BoundEntry &entry, size_t first);
  void giveStep(const BoundEntry &entry, const Place &step);
  GraphSharer &sharer(size_t device) const;

  const Devices &devices_;
  std::vector<Place> steps_; ///< of both parts, in an order in which no device waits
  std::vector<Graph> graphs_;
  size_t committed_ = 0; ///< the first graph from `commit` on
  std::vector<GraphShare> shares_;
  std::vector<PreparedProgram *> copies_; ///< by message
  std::vector<Events> events_;            ///< by message
};

} // namespace lstmc::session
