#include "executor/base/InputFile.h"

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/base/NoMemory.h"
#include "executor/base/Quote.h"

namespace lstmc {

class InputFile::Descriptor {
public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  Descriptor(Descriptor &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor &operator=(Descriptor &&) = delete;
  int get() const { return fd_; }

private:
  int fd_;
};

namespace {

Error cannotRead(const std::string &path, int error) {
  return failAt({path}, ErrorCode::E0601, "cannot read: {}", std::strerror(error));
}

bool sameTime(const timespec &a, const timespec &b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

} // namespace

Result<InputFile> InputFile::of(Descriptor descriptor, const std::string &path, bool oneName) {
  struct stat found{};
  if (::fstat(descriptor.get(), &found) != 0)
    return cannotRead(path, errno);
  if (S_ISDIR(found.st_mode))
    return failAt({path}, ErrorCode::E0601, "found a folder, want a file");
  if (!S_ISREG(found.st_mode))
    return failAt({path}, ErrorCode::E0601, "found a device or pipe, want a regular file");
  if (oneName && found.st_nlink != 1)
    return failAt({path}, ErrorCode::E0601, "found a file with {} names, want one", found.st_nlink);
  InputFile file;
  file.descriptor_ = std::make_shared<Descriptor>(std::move(descriptor));
  file.path_ = path;
  file.bytes_ = uint64_t(found.st_size);
  file.changed_ = found.st_mtim;
  return file;
}

Result<InputFile> InputFile::open(const std::string &path) try {
  // Non-blocking, because opening a pipe that nobody writes to would wait for ever.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0)
    return cannotRead(path, errno);
  return of(std::move(file), path, false);
} catch (const std::bad_alloc &) {
  return noMemory(path);
}

Result<InputFile> InputFile::openBeneath(const std::string &folder, const std::string &name) try {
  std::string path = folder + "/" + name;
  bool plain = !folder.empty() && !name.empty() && name != "." && name != ".." &&
               name.find_first_of(std::string_view("/\0", 2)) == std::string::npos;
  if (!plain)
    return failAt({folder}, ErrorCode::E0604, "file name: found {}, want a name without folders",
                  inQuotes(name));
  Descriptor base(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (base.get() < 0)
    return cannotRead(folder, errno);
  Descriptor file(::openat(base.get(), name.c_str(),
                           O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0)
    return cannotRead(path, errno);
  return of(std::move(file), path, true);
} catch (const std::bad_alloc &) {
  return noMemory(folder);
}

Status InputFile::read(uint64_t begin, std::span<uint8_t> to) const {
  size_t done = 0;
  while (done < to.size()) {
    ssize_t n =
        ::pread(descriptor_->get(), to.data() + done, to.size() - done, off_t(begin + done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return cannotRead(path_, errno);
    if (n == 0)
      return failAt({path_, 0, 0, int64_t(begin + done)}, ErrorCode::E0602,
                    "file shrank while it was read: found {} bytes, want {}", begin + done, bytes_);
    done += size_t(n);
  }
  struct stat now{};
  if (::fstat(descriptor_->get(), &now) != 0)
    return cannotRead(path_, errno);
  if (uint64_t(now.st_size) != bytes_ || !sameTime(now.st_mtim, changed_))
    return failAt({path_}, ErrorCode::E0605, "file changed while it was read");
  return {};
}

Result<Bytes> InputFile::readAll() const {
  Bytes all;
  try {
    all.resize(bytes_);
  } catch (const std::exception &) {
    return failAt({path_}, ErrorCode::E0601, "cannot read: no memory for {} bytes", bytes_);
  }
  LSTMC_TRY(read(0, all));
  return all;
}

Result<Bytes> readFile(const std::string &path) {
  LSTMC_ASSIGN(InputFile file, InputFile::open(path));
  return file.readAll();
}

Result<Bytes> readFileBeneath(const std::string &folder, const std::string &name) {
  LSTMC_ASSIGN(InputFile file, InputFile::openBeneath(folder, name));
  return file.readAll();
}

} // namespace lstmc
