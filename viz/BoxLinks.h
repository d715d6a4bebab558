// Maps launches and buffers to the boxes of a network, by source location.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "executor/package/PackageData.h"
#include "viz/Diagram.h"

namespace lstmc::viz {

/// "net.lnet:7:9 for t = 3": equal for ops created at one source location in the same loop
/// iteration.
std::string placeText(const package::Location &location);

class BoxLinks {
public:
  BoxLinks(const package::PackageData &package, const Diagram &diagram);

  /// The box of a location of the package; nullopt if there is none.
  std::optional<size_t> boxOf(uint32_t location) const {
    return location < boxes_.size() ? boxes_[location] : std::nullopt;
  }
  size_t count() const { return count_; } ///< number of boxes

private:
  std::vector<std::optional<size_t>> boxes_; ///< by location
  size_t count_;
};

} // namespace lstmc::viz
