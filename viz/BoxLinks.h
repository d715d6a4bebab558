// Which box of a network a launch or a buffer belongs to: by the place in the source.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "executor/package/PackageData.h"
#include "viz/Diagram.h"

namespace lstmc::viz {

/// "net.lnet:7:9 for t = 3": equal for ops that were made at one place in the same turn of its
/// loops.
std::string placeText(const package::Location &location);

class BoxLinks {
public:
  BoxLinks(const package::PackageData &package, const Diagram &diagram);

  /// Of a location of the package; none for what no box stands for.
  std::optional<size_t> boxOf(uint32_t location) const {
    return location < boxes_.size() ? boxes_[location] : std::nullopt;
  }
  size_t count() const { return count_; } ///< of boxes

private:
  std::vector<std::optional<size_t>> boxes_; ///< by location
  size_t count_;
};

} // namespace lstmc::viz
