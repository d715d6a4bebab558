#include "tests/executor/failures/DiskRecord.h"

#include <atomic>
#include <cstdarg>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fs = std::filesystem;

namespace lstmc::test {
namespace {

std::mutex mutex;
std::atomic<DiskRecord *> record{nullptr};
std::string root;
std::map<std::string, Node> live; ///< by path below the root; "" is the root
Node last = DiskRecord::kRoot;

template <typename F> F next(F, const char *name) {
  return reinterpret_cast<F>(::dlsym(RTLD_NEXT, name));
}

/// The path below the root; nothing for other paths.
const std::string *beneath(const std::string &path, std::string &local) {
  if (path == root)
    local = "";
  else if (path.starts_with(root + "/"))
    local = path.substr(root.size() + 1);
  else
    return nullptr;
  return &local;
}

std::string pathOf(int fd) {
  std::error_code error;
  return fs::read_symlink("/proc/self/fd/" + std::to_string(fd), error).string();
}

std::pair<std::string, std::string> split(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == path.npos ? std::pair(std::string(), path)
                            : std::pair(path.substr(0, slash), path.substr(slash + 1));
}

/// Calls `add(call, path)` if the path is below the root. The caller holds the lock.
template <typename F> void note(const std::string &path, F add) {
  std::lock_guard lock(mutex);
  std::string local;
  if (!record || !beneath(path, local))
    return;
  auto [folder, name] = split(local);
  DiskCall call{};
  call.folder = live.at(folder);
  call.name = name;
  add(call, local);
  record.load()->calls.push_back(std::move(call));
}

void noteMade(const std::string &path, char kind, const std::string &target = "") {
  note(path, [&](DiskCall &call, const std::string &local) {
    call.kind = DiskCall::Kind::Make;
    call.node = live[local] = ++last;
    // It is empty and has no name yet.
    if (kind == 'd')
      record.load()->before.folders[call.node];
    else if (kind == 'l')
      record.load()->before.links[call.node] = target;
    else
      record.load()->before.files[call.node];
  });
}

void noteRemoved(const std::string &path) {
  note(path, [&](DiskCall &call, const std::string &local) {
    call.kind = DiskCall::Kind::Remove;
    live.erase(local);
  });
}

/// Moves the paths below `from` to `to`.
void moveLive(const std::string &from, const std::string &to) {
  std::map<std::string, Node> moved;
  for (const auto &[path, node] : live) {
    if (path == to || path.starts_with(to + "/"))
      continue;
    bool within = path == from || path.starts_with(from + "/");
    moved[within ? to + path.substr(from.size()) : path] = node;
  }
  live = std::move(moved);
}

void noteRenamed(const std::string &from, const std::string &to, bool exchange) {
  note(from, [&](DiskCall &call, const std::string &local) {
    std::string localTo;
    beneath(to, localTo);
    call.kind = exchange ? DiskCall::Kind::Exchange : DiskCall::Kind::Rename;
    call.otherName = split(localTo).second;
    call.node = live.at(local);
    if (exchange) {
      call.otherNode = live.at(localTo);
      moveLive(local, "\n");
      moveLive(localTo, local);
      moveLive("\n", localTo);
    } else {
      moveLive(local, localTo);
    }
  });
}

void noteFile(int fd, DiskCall::Kind kind, uint64_t offset, std::string bytes) {
  if (!record)
    return;
  std::string path = pathOf(fd);
  note(path, [&](DiskCall &call, const std::string &local) {
    call.kind = kind;
    call.node = live.at(local);
    call.offset = offset;
    call.bytes = std::move(bytes);
  });
}

Node scan(const fs::path &path, const std::string &local, Disk &disk) {
  Node node = local.empty() ? DiskRecord::kRoot : ++last;
  live[local] = node;
  if (fs::is_symlink(path)) {
    disk.links[node] = fs::read_symlink(path).string();
  } else if (fs::is_directory(path)) {
    auto &names = disk.folders[node];
    for (const fs::directory_entry &entry : fs::directory_iterator(path)) {
      std::string name = entry.path().filename().string();
      names[name] = scan(entry.path(), local.empty() ? name : local + "/" + name, disk);
    }
  } else {
    std::ifstream file(path, std::ios::binary);
    disk.files[node].assign(std::istreambuf_iterator<char>(file), {});
  }
  return node;
}

} // namespace

void Disk::apply(const DiskCall &call) {
  using Kind = DiskCall::Kind;
  auto &names = folders[call.folder];
  switch (call.kind) {
  case Kind::Make:
    names[call.name] = call.node;
    break;
  case Kind::Write: {
    std::string &file = files[call.node];
    if (file.size() < call.offset + call.bytes.size())
      file.resize(call.offset + call.bytes.size());
    file.replace(call.offset, call.bytes.size(), call.bytes);
    break;
  }
  case Kind::Extend:
    if (files[call.node].size() < call.offset)
      files[call.node].resize(call.offset);
    break;
  case Kind::Rename:
    names.erase(call.name);
    names[call.otherName] = call.node;
    break;
  case Kind::Exchange:
    names[call.name] = call.otherNode;
    names[call.otherName] = call.node;
    break;
  case Kind::Remove:
    names.erase(call.name);
    break;
  case Kind::Sync:
    break;
  }
}

DiskRecord::DiskRecord(const std::string &folder) {
  std::lock_guard lock(mutex);
  live.clear();
  last = kRoot;
  root = folder;
  scan(folder, "", before);
  record = this;
}

DiskRecord::~DiskRecord() {
  std::lock_guard lock(mutex);
  record = nullptr;
}

std::vector<size_t> DiskRecord::unsynced(size_t count) const {
  using Kind = DiskCall::Kind;
  std::vector<size_t> found;
  for (size_t i = 0; i < count; ++i) {
    const DiskCall &call = calls[i];
    if (call.kind == Kind::Sync)
      continue;
    Node needs = call.kind == Kind::Write || call.kind == Kind::Extend ? call.node : call.folder;
    bool synced = false;
    for (size_t j = i + 1; j < count; ++j)
      synced |= calls[j].kind == Kind::Sync && calls[j].node == needs;
    if (!synced)
      found.push_back(i);
  }
  return found;
}

} // namespace lstmc::test

// These are called instead of the functions of the C library.
extern "C" {

using namespace lstmc::test;

int open(const char *path, int flags, ...) {
  mode_t mode = 0;
  if (flags & O_CREAT) {
    va_list more;
    va_start(more, flags);
    mode = va_arg(more, mode_t);
    va_end(more);
  }
  static const auto real = next(static_cast<int (*)(const char *, int, ...)>(nullptr), "open");
  int fd = real(path, flags, mode);
  if (fd >= 0 && record && flags & O_CREAT && flags & O_EXCL)
    noteMade(path, 'f');
  return fd;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  static const auto real = next(&::write, "write");
  uint64_t offset = record ? uint64_t(::lseek(fd, 0, SEEK_CUR)) : 0;
  ssize_t done = real(fd, bytes, count);
  if (done > 0 && record)
    noteFile(fd, DiskCall::Kind::Write, offset,
             std::string(static_cast<const char *>(bytes), size_t(done)));
  return done;
}

int posix_fallocate(int fd, off_t offset, off_t bytes) {
  static const auto real = next(&::posix_fallocate, "posix_fallocate");
  int error = real(fd, offset, bytes);
  if (error == 0 && record)
    noteFile(fd, DiskCall::Kind::Extend, uint64_t(offset + bytes), "");
  return error;
}

int fsync(int fd) {
  // Does not wait for the disk: the test loses no power.
  if (record)
    noteFile(fd, DiskCall::Kind::Sync, 0, "");
  return 0;
}

int mkdir(const char *path, mode_t mode) noexcept {
  static const auto real = next(&::mkdir, "mkdir");
  int answer = real(path, mode);
  if (answer == 0 && record)
    noteMade(path, 'd');
  return answer;
}

int symlink(const char *target, const char *path) noexcept {
  static const auto real = next(&::symlink, "symlink");
  int answer = real(target, path);
  if (answer == 0 && record)
    noteMade(path, 'l', target);
  return answer;
}

int rename(const char *from, const char *to) noexcept {
  static const auto real = next(&::rename, "rename");
  int answer = real(from, to);
  if (answer == 0 && record)
    noteRenamed(from, to, false);
  return answer;
}

int renameat2(int folder, const char *from, int toFolder, const char *to, unsigned flags) noexcept {
  static const auto real = next(&::renameat2, "renameat2");
  int answer = real(folder, from, toFolder, to, flags);
  if (answer == 0 && record)
    noteRenamed(from, to, flags & RENAME_EXCHANGE);
  return answer;
}

int unlink(const char *path) noexcept {
  static const auto real = next(&::unlink, "unlink");
  int answer = real(path);
  if (answer == 0 && record)
    noteRemoved(path);
  return answer;
}

int unlinkat(int folder, const char *name, int flags) noexcept {
  static const auto real = next(&::unlinkat, "unlinkat");
  std::string path;
  if (record)
    path = name[0] == '/' || folder == AT_FDCWD ? name : pathOf(folder) + "/" + name;
  int answer = real(folder, name, flags);
  if (answer == 0 && record)
    noteRemoved(path);
  return answer;
}

int rmdir(const char *path) noexcept {
  static const auto real = next(&::rmdir, "rmdir");
  int answer = real(path);
  if (answer == 0 && record)
    noteRemoved(path);
  return answer;
}

} // extern "C"
