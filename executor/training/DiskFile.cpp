#include "executor/training/DiskFile.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/base/InputFile.h"
#include "executor/base/Sha256.h"

namespace lstmc::training {

static Error failed(const std::string &path, std::string_view what, int error) {
  return failAt({path}, ErrorCode::E0601, "{}: {}", what, std::strerror(error));
}

Result<DiskFile> DiskFile::create(const std::string &path) {
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0)
    return failed(path, "cannot create", errno);
  return DiskFile(path, fd);
}

DiskFile::DiskFile(DiskFile &&other) noexcept
    : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

DiskFile::~DiskFile() {
  if (fd_ >= 0)
    ::close(fd_);
}

Status DiskFile::reserve(uint64_t bytes) {
  if (bytes == 0)
    return {};
  if (int error = ::posix_fallocate(fd_, 0, off_t(bytes)); error != 0)
    return failed(path_, fmt::format("cannot reserve {} bytes", bytes), error);
  return {};
}

Status DiskFile::write(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return failed(path_, "cannot write", errno);
    bytes = bytes.subspan(size_t(n));
  }
  return {};
}

Status DiskFile::sync() {
  if (::fsync(fd_) != 0)
    return failed(path_, "cannot sync", errno);
  return {};
}

Result<std::string> digestOfFile(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0)
    return failed(path, "cannot read back", errno);
  Sha256 hash;
  Bytes piece(1 << 20);
  while (true) {
    ssize_t n = ::read(fd, piece.data(), piece.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      int error = errno;
      ::close(fd);
      if (n < 0)
        return failed(path, "cannot read back", error);
      return hash.finish();
    }
    hash.update(std::span(piece).first(size_t(n)));
  }
}

Status syncFolder(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return failed(path, "cannot open", errno);
  int answer = ::fsync(fd), error = errno;
  ::close(fd);
  return answer == 0 ? Status() : Status(failed(path, "cannot sync", error));
}

Status makeFolder(const std::string &path) {
  if (::mkdir(path.c_str(), 0777) != 0)
    return failed(path, "cannot make the folder", errno);
  return {};
}

Status renameTo(const std::string &from, const std::string &to) {
  if (::rename(from.c_str(), to.c_str()) != 0)
    return failed(to, "cannot rename", errno);
  return {};
}

Status swapNames(const std::string &a, const std::string &b) {
  if (::renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) != 0)
    return failed(b, "cannot exchange", errno);
  return {};
}

void removeFolder(const std::string &path) {
  if (::unlink(path.c_str()) == 0 || errno != EISDIR)
    return;
  for (const std::string &name : namesIn(path))
    removeFolder(fmt::format("{}/{}", path, name));
  ::rmdir(path.c_str());
}

std::vector<std::string> namesIn(const std::string &folder) {
  std::vector<std::string> names;
  std::unique_ptr<DIR, decltype([](DIR *open) { ::closedir(open); })> open(
      ::opendir(folder.c_str()));
  while (const dirent *entry = open ? ::readdir(open.get()) : nullptr)
    if (std::string_view name = entry->d_name; name != "." && name != "..")
      names.emplace_back(name);
  return names;
}

} // namespace lstmc::training
