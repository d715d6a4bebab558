#include "executor/base/ScratchFile.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace lstmc {

static std::string scratchFolder() {
  const char *named = std::getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

/// A file that never has a name, or, on a file system that has no such files, one whose name is
/// taken away at once. Negative, with errno set, if there is none.
static int openUnnamed(const std::string &folder) {
  int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
    return fd;
  std::string path = folder + "/lstmc-XXXXXX";
  fd = ::mkostemp(path.data(), O_CLOEXEC);
  if (fd >= 0)
    ::unlink(path.c_str());
  return fd;
}

Result<ScratchFile> ScratchFile::create() {
  ScratchFile file(-1, scratchFolder());
  file.fd_ = openUnnamed(file.folder_);
  if (file.fd_ < 0)
    return file.failed("cannot make a file here for data that do not fit into memory");
  return file;
}

ScratchFile::ScratchFile(ScratchFile &&other) noexcept
    : fd_(std::exchange(other.fd_, -1)), folder_(std::move(other.folder_)) {}

ScratchFile &ScratchFile::operator=(ScratchFile &&other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(folder_, other.folder_);
  return *this;
}

ScratchFile::~ScratchFile() {
  if (fd_ >= 0)
    ::close(fd_);
}

Error ScratchFile::failed(const char *what) const {
  return failAt({folder_}, ErrorCode::E0601, "{}: {} (TMPDIR names another folder)", what,
                std::strerror(errno));
}

std::string ScratchFile::path() const { return fmt::format("/proc/self/fd/{}", fd_); }

Status ScratchFile::append(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return failed("cannot write data that do not fit into memory");
    bytes = bytes.subspan(size_t(n));
  }
  return {};
}

Status ScratchFile::read(uint64_t begin, std::span<uint8_t> to) const {
  while (!to.empty()) {
    ssize_t n = ::pread(fd_, to.data(), to.size(), off_t(begin));
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      errno = n < 0 ? errno : EIO;
      return failed("cannot read data that do not fit into memory");
    }
    to = to.subspan(size_t(n));
    begin += uint64_t(n);
  }
  return {};
}

} // namespace lstmc
