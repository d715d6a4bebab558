#include "executor/base/OutputFile.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <utility>

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace lstmc {
namespace {

/// Names of the temporary files that exist, for a signal handler to read. The handler takes a name
/// out while it reads it, and puts it back. If the owner looks for the name meanwhile, it stays in
/// the table: that leaks a few bytes once.
std::array<std::atomic<const char *>, 64> temporaries;

int remember(const std::string &path) {
  char *copy = ::strdup(path.c_str());
  for (size_t i = 0; i < temporaries.size(); ++i) {
    const char *empty = nullptr;
    if (temporaries[i].compare_exchange_strong(empty, copy))
      return int(i);
  }
  std::free(copy);
  return -1;
}

void forget(int slot) {
  if (slot >= 0)
    std::free(const_cast<char *>(temporaries[size_t(slot)].exchange(nullptr)));
}

/// The umask of the process, read from /proc because the system call that reads it also sets it for
/// all threads.
mode_t currentUmask() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word)
    if (word == "Umask:" && status >> word)
      return mode_t(std::strtoul(word.c_str(), nullptr, 8));
  return 022;
}

std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Where a symbolic link leads; the link itself where that does not exist.
std::string targetOf(const std::string &link) {
  std::unique_ptr<char, decltype([](char *text) { std::free(text); })> target(
      ::realpath(link.c_str(), nullptr));
  return target ? target.get() : link;
}

Error existsAlready(const std::string &path) {
  return failAt({path}, ErrorCode::E0608, "output exists and is kept; --force overwrites it");
}

} // namespace

bool isDeviceOrPipe(const std::string &path) {
  struct stat there{};
  return ::stat(path.c_str(), &there) == 0 &&
         (S_ISCHR(there.st_mode) || S_ISBLK(there.st_mode) || S_ISFIFO(there.st_mode));
}

std::string randomSuffix() {
  static constexpr std::string_view kLetters = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::array<uint8_t, 12> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != ssize_t(bytes.size()))
    for (size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = uint8_t(::getpid() >> (i % 4 * 8));
  std::string text;
  for (uint8_t byte : bytes)
    text += kLetters[byte % kLetters.size()];
  return text;
}

Result<OutputFile> OutputFile::create(const std::string &path, Existing existing) {
  struct stat there{};
  bool present = ::lstat(path.c_str(), &there) == 0;
  if (present && S_ISDIR(there.st_mode))
    return failAt({path}, ErrorCode::E0601, "cannot write: found a folder, want a file");
  if (isDeviceOrPipe(path)) {
    OutputFile device;
    device.path_ = path;
    device.fd_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    return device.fd_ < 0 ? Result<OutputFile>(device.failed("cannot write", errno))
                          : Result<OutputFile>(std::move(device));
  }
  if (present && existing == Existing::Keep)
    return existsAlready(path);

  OutputFile file;
  file.path_ = S_ISLNK(there.st_mode) ? targetOf(path) : path;
  file.existing_ = existing;
  std::string folder = folderOf(file.path_);
  std::string name = file.path_.substr(file.path_.rfind('/') + 1);
  for (int attempt = 0; attempt < 16 && file.fd_ < 0; ++attempt) {
    file.temporary_ = fmt::format("{}/.{}.{}.part", folder, name, randomSuffix());
    file.fd_ = ::open(file.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file.fd_ < 0 && errno != EEXIST)
      break;
  }
  if (file.fd_ < 0)
    return file.failed("cannot write", errno);
  file.slot_ = remember(file.temporary_);
  return file;
}

OutputFile::OutputFile(OutputFile &&other) noexcept
    : path_(std::move(other.path_)), temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)), slot_(std::exchange(other.slot_, -1)),
      existing_(other.existing_) {}

OutputFile::~OutputFile() {
  if (fd_ < 0)
    return;
  ::close(fd_);
  if (!temporary_.empty())
    ::unlink(temporary_.c_str());
  forget(slot_);
}

Error OutputFile::failed(const char *what, int error) const {
  return failAt({path_}, ErrorCode::E0601, "{}: {}", what, std::strerror(error));
}

Status OutputFile::write(std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return failed("cannot write", errno);
    bytes = bytes.subspan(size_t(n));
  }
  return {};
}

Status OutputFile::write(std::string_view text) {
  return write(std::span(reinterpret_cast<const uint8_t *>(text.data()), text.size()));
}

Status OutputFile::commit() {
  if (temporary_.empty())
    return ::close(std::exchange(fd_, -1)) == 0 ? Status() : Status(failed("cannot write", errno));
  if (::fsync(fd_) != 0)
    return failed("cannot sync", errno);
  if (::fchmod(fd_, 0666 & ~currentUmask()) != 0)
    return failed("cannot set the mode", errno);
  unsigned flags = existing_ == Existing::Keep ? RENAME_NOREPLACE : 0;
  int renamed = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), flags);
  if (renamed != 0 && flags != 0 && errno == EINVAL) {
    // A file system without that flag. `link` refuses an existing name too.
    renamed = ::link(temporary_.c_str(), path_.c_str());
    if (renamed == 0)
      ::unlink(temporary_.c_str());
  }
  if (renamed != 0 && errno == EEXIST)
    return existsAlready(path_);
  if (renamed != 0)
    return failed("cannot rename", errno);
  ::close(std::exchange(fd_, -1));
  forget(std::exchange(slot_, -1));
  return {};
}

Status writeFile(const std::string &path, std::string_view text, OutputFile::Existing existing) {
  LSTMC_ASSIGN(OutputFile file, OutputFile::create(path, existing));
  LSTMC_TRY(file.write(text));
  return file.commit();
}

void removeTemporaryFiles() {
  for (std::atomic<const char *> &slot : temporaries)
    if (const char *path = slot.exchange(nullptr)) {
      ::unlink(path);
      slot = path;
    }
}

} // namespace lstmc
