// The control groups that a process is in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lstmc {

/// A folder with a controller's files.
struct ControlGroup {
  std::string folder;
  int version = 2; ///< of control groups: names and formats of the files differ
};

/// The process's groups for a controller ("memory", "cpu") in both versions, its own before those
/// around it. `process` is a folder like /proc/self, with the files `cgroup` and `mountinfo`.
/// Groups outside of what a container sees are not included.
std::vector<ControlGroup> controlGroups(const std::string &process, std::string_view controller);

} // namespace lstmc
