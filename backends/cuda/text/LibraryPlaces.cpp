#include "backends/cuda/text/LibraryPlaces.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>

namespace lstmc::cuda {

namespace {

namespace fs = std::filesystem;

std::string variable(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// The folders lib/python3.*/{site,dist}-packages below a prefix that are there, the newest Python
/// first.
std::vector<fs::path> packageFolders(const fs::path &prefix) {
  std::vector<fs::path> folders;
  std::error_code error;
  for (const fs::directory_entry &entry : fs::directory_iterator(prefix / "lib", error))
    if (entry.path().filename().string().starts_with("python3"))
      for (const char *packages : {"site-packages", "dist-packages"})
        if (fs::is_directory(entry.path() / packages, error))
          folders.push_back(entry.path() / packages);
  std::ranges::sort(folders, std::greater());
  return folders;
}

/// The environment of the `python3` that a shell starts; empty if there is none. One that has not
/// been activated is known by nothing but its place in PATH; its python3 is a link to another.
std::string prefixOfPython() {
  const std::string path = variable("PATH");
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    const fs::path folder = path.substr(begin, end - begin);
    std::error_code error;
    if (folder.is_absolute() && fs::is_regular_file(folder / "python3", error))
      return folder.parent_path().string();
    begin = end + 1;
  }
  return "";
}

} // namespace

void LibraryPlaces::add(LibraryPlaces others) {
  std::ranges::move(others.files, std::back_inserter(files));
  for (std::string &folder : others.folders)
    if (std::ranges::find(folders, folder) == folders.end())
      folders.push_back(std::move(folder));
}

std::string systemPlaces() {
  const std::string path = variable("LD_LIBRARY_PATH");
  return "where the system looks for libraries (LD_LIBRARY_PATH is " +
         (path.empty() ? "not set)" : path + ")");
}

LibraryPlaces placesOf(std::string_view name, const std::vector<std::string> &wheels) {
  LibraryPlaces places = {{std::string(name)}, {}};
  auto add = [&](const fs::path &folder) {
    std::error_code error;
    LibraryPlaces place = {{}, {folder.string()}};
    if (fs::is_regular_file(folder / name, error))
      place.files.push_back((folder / name).string());
    places.add(std::move(place));
  };
  for (const std::string &toolkit :
       {variable("CUDA_HOME"), variable("CUDA_PATH"), std::string("/usr/local/cuda")})
    if (!toolkit.empty())
      for (const char *folder : {"lib64", "lib"})
        add(fs::path(toolkit) / folder);
  const std::string home = variable("HOME");
  for (const std::string &prefix :
       {variable("VIRTUAL_ENV"), variable("CONDA_PREFIX"), prefixOfPython(),
        home.empty() ? home : home + "/.local", std::string("/usr/local"), std::string("/usr")})
    if (!prefix.empty())
      for (const fs::path &packages : packageFolders(prefix))
        for (const std::string &wheel : wheels)
          add(packages / "nvidia" / wheel);
  return places;
}

} // namespace lstmc::cuda
