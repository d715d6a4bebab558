#include "backends/target/Target.h"

#include <algorithm>

namespace lstmc::target {

MessageCost Target::messageCost(const Machine &receiver, uint32_t sender, double bytes) const {
  const Link &link = receiver.linkFrom(sender);
  // A network brings what was sent while its receiver is at work; in one memory the receiver
  // copies.
  return {link.seconds, bytes / link.bytesPerSecond, !receiver.links.empty()};
}

double Target::opSeconds(const Machine &machine, int64_t flops, int64_t movedBytes) const {
  const Speeds own = speeds(machine);
  return std::max(double(flops) / own.flopsPerSecond, double(movedBytes) / own.bytesPerSecond) +
         own.launchSeconds;
}

Machine Target::fit(std::span<const Sample>, int) const { return {}; }

} // namespace lstmc::target
