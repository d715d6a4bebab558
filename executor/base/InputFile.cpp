#include "executor/base/InputFile.h"

#include <cerrno>
#include <cstring>
#include <exception>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/base/NoMemory.h"
#include "executor/base/Quote.h"

namespace lstmc {
namespace {

class Descriptor {
public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  int get() const { return fd_; }

private:
  int fd_;
};

Error cannotRead(const std::string &path, int error) {
  return failAt({path}, ErrorCode::E0601, "cannot read: {}", std::strerror(error));
}

bool sameTime(const timespec &a, const timespec &b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

Result<Bytes> readAll(int fd, const std::string &path, bool oneName) {
  struct stat before{};
  if (::fstat(fd, &before) != 0)
    return cannotRead(path, errno);
  if (S_ISDIR(before.st_mode))
    return failAt({path}, ErrorCode::E0601, "found a folder, want a file");
  if (!S_ISREG(before.st_mode))
    return failAt({path}, ErrorCode::E0601, "found a device or pipe, want a regular file");
  if (oneName && before.st_nlink != 1)
    return failAt({path}, ErrorCode::E0601, "found a file with {} names, want one",
                  before.st_nlink);

  Bytes bytes;
  try {
    bytes.resize(size_t(before.st_size));
  } catch (const std::exception &) {
    return failAt({path}, ErrorCode::E0601, "cannot read: no memory for {} bytes", before.st_size);
  }
  size_t done = 0;
  while (done < bytes.size()) {
    ssize_t n = ::pread(fd, bytes.data() + done, bytes.size() - done, off_t(done));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return cannotRead(path, errno);
    if (n == 0)
      return failAt({path, 0, 0, int64_t(done)}, ErrorCode::E0602,
                    "file shrank while it was read: found {} bytes, want {}", done, bytes.size());
    done += size_t(n);
  }
  struct stat after{};
  if (::fstat(fd, &after) != 0)
    return cannotRead(path, errno);
  if (after.st_size != before.st_size || !sameTime(after.st_mtim, before.st_mtim))
    return failAt({path}, ErrorCode::E0605, "file changed while it was read");
  return bytes;
}

} // namespace

Result<Bytes> readFile(const std::string &path) try {
  // Non-blocking, because opening a pipe that nobody writes to would wait for ever.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0)
    return cannotRead(path, errno);
  return readAll(file.get(), path, false);
} catch (const std::bad_alloc &) {
  return noMemory(path);
}

Result<Bytes> readFileBeneath(const std::string &folder, const std::string &name) try {
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
  return readAll(file.get(), path, true);
} catch (const std::bad_alloc &) {
  return noMemory(folder);
}

} // namespace lstmc
