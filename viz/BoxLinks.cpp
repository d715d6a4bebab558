#include "viz/BoxLinks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace lstmc::viz {

std::string placeText(const package::Location &location) {
  if (!location.line)
    return "";
  return fmt::format("{}:{}:{} {}", location.file, location.line, location.column,
                     fmt::join(location.notes, "; "));
}

BoxLinks::BoxLinks(const package::PackageData &package, const Diagram &diagram)
    : count_(diagram.boxes.size()) {
  std::map<std::string, size_t> boxes;
  for (size_t i = 0; i < diagram.boxes.size(); ++i)
    for (const std::string &place : diagram.boxes[i].places)
      boxes.try_emplace(place, i);
  for (const package::Location &location : package.locations) {
    auto found = boxes.find(placeText(location));
    boxes_.push_back(found != boxes.end() && location.line ? std::optional(found->second)
                                                           : std::nullopt);
  }
}

} // namespace lstmc::viz
