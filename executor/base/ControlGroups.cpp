#include "executor/base/ControlGroups.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>

namespace lstmc {

namespace {

/// Whether a list with commas contains a controller.
bool contains(std::string_view controllers, std::string_view controller) {
  for (size_t begin = 0; begin <= controllers.size();) {
    const size_t end = std::min(controllers.find(',', begin), controllers.size());
    if (controllers.substr(begin, end - begin) == controller)
      return true;
    begin = end + 1;
  }
  return false;
}

struct Mount {
  std::string root, point; ///< the group at `point`
};

/// The octal escapes of mountinfo: of spaces, tabs, newlines and backslashes.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += char((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  return plain;
}

/// `ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [FIELDS] - TYPE SOURCE SUPER-OPTIONS`
std::vector<Mount> mountsOf(int version, std::string_view controller,
                            const std::string &mountinfo) {
  std::vector<Mount> mounts;
  std::ifstream stream(mountinfo);
  for (std::string line; std::getline(stream, line);) {
    std::istringstream words(line);
    std::string skipped, root, point, type, source, options;
    words >> skipped >> skipped >> skipped >> root >> point;
    for (std::string word; words >> word && word != "-";) {
    }
    words >> type >> source >> options;
    if (version == 2 ? type == "cgroup2" : type == "cgroup" && contains(options, controller))
      mounts.push_back({unescaped(root), unescaped(point)});
  }
  return mounts;
}

/// The path of the process's group; none where the version is not in use.
std::optional<std::string> groupOf(int version, std::string_view controller,
                                   const std::string &cgroup) {
  std::ifstream stream(cgroup);
  for (std::string line; std::getline(stream, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos)
      continue;
    const std::string_view controllers =
        std::string_view(line).substr(first + 1, second - first - 1);
    if (version == 2 ? controllers.empty() : contains(controllers, controller))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

} // namespace

std::vector<ControlGroup> controlGroups(const std::string &process, std::string_view controller) {
  std::vector<ControlGroup> groups;
  for (int version : {2, 1}) {
    const std::optional<std::string> group = groupOf(version, controller, process + "/cgroup");
    if (!group)
      continue;
    for (const Mount &mount : mountsOf(version, controller, process + "/mountinfo")) {
      // What a container sees of the tree begins at `root`; a group outside of that is not seen.
      const std::string root = mount.root == "/" ? "" : mount.root;
      std::string below = group->starts_with(root) ? group->substr(root.size()) : "";
      while (true) {
        while (below.ends_with('/'))
          below.pop_back();
        groups.push_back({mount.point + below, version});
        if (below.empty())
          break;
        below.resize(below.rfind('/'));
      }
    }
  }
  return groups;
}

} // namespace lstmc
