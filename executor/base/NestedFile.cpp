#include "executor/base/NestedFile.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include <fcntl.h>
#include <unistd.h>

#include "executor/base/NoMemory.h"
#include "executor/base/Quote.h"

namespace lstmc {

namespace fs = std::filesystem;

namespace {

/// The path without `.` and `..`, by its text alone. Links do not matter here: they are refused
/// when the path is opened.
fs::path plain(const fs::path &path) {
  std::error_code gone; // the working folder may be
  fs::path whole = fs::absolute(path, gone);
  return (gone ? path : whole).lexically_normal();
}

fs::path folderPath(const std::string &folder) {
  fs::path whole = plain(folder.empty() ? "." : folder);
  return whole.has_filename() ? whole : whole.parent_path();
}

/// The part of `path` after `folder`; nothing if `path` is not below it.
std::optional<fs::path> beneath(const fs::path &folder, const fs::path &path) {
  auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  if (end != folder.end() || rest == path.end())
    return std::nullopt;
  fs::path relative;
  for (; rest != path.end(); ++rest)
    relative /= *rest;
  return relative;
}

/// Opens the folder that contains `relative`, component by component. On failure negative, with
/// errno set.
int openParent(const fs::path &folder, const fs::path &relative) {
  int at = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (const fs::path &part : relative.parent_path()) {
    if (at < 0)
      break;
    int next = ::openat(at, part.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    int fault = errno;
    ::close(at);
    at = next;
    errno = fault;
  }
  return at;
}

} // namespace

Result<InputFile> openNestedFile(const std::vector<std::string> &folders,
                                 const std::string &path) try {
  if (path.empty() || path.find('\0') != std::string::npos)
    return fail(ErrorCode::E0604, "data: found {}, want the name of a file", inQuotes(path));
  std::optional<Error> missing;
  bool inside = false;
  for (const std::string &from : folders) {
    fs::path whole = plain(fs::path(from.empty() ? "." : from) / path);
    for (const std::string &folder : folders) {
      std::optional<fs::path> relative = beneath(folderPath(folder), whole);
      if (!relative)
        continue;
      inside = true;
      int parent = openParent(folderPath(folder), *relative);
      if (parent < 0) {
        missing = failAt({path}, ErrorCode::E0601, "cannot read: {}", std::strerror(errno));
        continue;
      }
      // Use the descriptor's folder: the path may lead elsewhere by now.
      Result<InputFile> file =
          InputFile::openBeneath(fmt::format("/proc/self/fd/{}", parent), relative->filename());
      ::close(parent);
      if (file.ok()) {
        file->setName(path);
        return file;
      }
      Error error = file.error();
      error.place.file = path;
      bool absent = error.code == ErrorCode::E0601;
      if (!absent)
        return error;
      if (!missing)
        missing = error;
    }
  }
  if (inside)
    return *missing;
  return failAt({path}, ErrorCode::E0604,
                "data: found a path that leads out of {}, where the file that names it is; "
                "--allow-data DIR allows another folder",
                inQuotes(folders.empty() || folders[0].empty() ? "." : folders[0]));
} catch (const std::exception &) {
  return noMemory(path);
}

Result<Bytes> readNestedFile(const std::vector<std::string> &folders, const std::string &path) {
  LSTMC_ASSIGN(InputFile file, openNestedFile(folders, path));
  return file.readAll();
}

} // namespace lstmc
