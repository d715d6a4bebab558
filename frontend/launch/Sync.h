// Files of this machine, copied to a folder of each host.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Status.h"

namespace lstmc::launch {

/// A file here, and its name beneath the folder there.
struct SyncedFile {
  std::string from, to;
  bool operator==(const SyncedFile &) const = default;
};

/// Where a copy of this command is, beneath the folder.
inline constexpr std::string_view kSyncedPrograms = ".lstmc/bin", kSyncedLibraries = ".lstmc/lib";

/// Files that a copy of this command needs: the executable, the library of ranks, and the loaded
/// shared libraries, except drivers and the C library, which belongs to the host's kernel and
/// loader.
std::vector<SyncedFile> filesOfCommand(const std::string &mpiLibrary);

/// Copies to `folder` of a host what is not there with the same bytes. `log` gets a line on it.
/// E0801 with the host and why it does not take them.
Status syncFiles(const std::vector<SyncedFile> &files, const std::string &folder,
                 const std::string &host, int sshPort,
                 const std::function<void(const std::string &)> &log);

} // namespace lstmc::launch
