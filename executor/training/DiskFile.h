// Files of a checkpoint on disk, one call a step of the protocol.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::training {

/// A file made exclusively, with what the umask allows, closed on every way out. Once `sync` has
/// failed its descriptor is never synced again: Linux may report success although pages were
/// dropped.
class DiskFile {
public:
  static Result<DiskFile> create(const std::string &path);
  DiskFile(DiskFile &&other) noexcept;
  DiskFile &operator=(DiskFile &&) = delete;
  ~DiskFile();

  Status reserve(uint64_t bytes);
  Status write(std::span<const uint8_t> bytes);
  Status sync();

private:
  DiskFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
  std::string path_;
  int fd_;
};

/// SHA-256 of a file, read through a new descriptor.
Result<std::string> digestOfFile(const std::string &path);
Status syncFolder(const std::string &path);
Status makeFolder(const std::string &path);
Status renameTo(const std::string &from, const std::string &to);
/// Both exist; each takes the other's name.
Status swapNames(const std::string &a, const std::string &b);
/// Or a file or link: with all that is in it, as far as that can be had; no link is followed.
void removeFolder(const std::string &path);
/// Names in a folder, in no order; none where it cannot be read. (The iterators of std::filesystem
/// end the process where they find no memory.)
std::vector<std::string> namesIn(const std::string &folder);

} // namespace lstmc::training
