#include "frontend/launch/Sync.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>

#include <link.h>

#include "executor/base/InputFile.h"
#include "executor/base/OutputFile.h"
#include "executor/base/OwnProgram.h"
#include "executor/base/Sha256.h"
#include "frontend/launch/Mpirun.h"
#include "frontend/launch/Network.h"
#include "frontend/launch/Ssh.h"

namespace lstmc::launch {

namespace fs = std::filesystem;

namespace {

/// Prefixes of libraries that every host provides itself.
constexpr std::string_view kOfHosts[] = {
    "linux-vdso", "ld-linux", "libc.so",       "libm.so",      "libmvec.so", "libdl.so",
    "librt.so",   "libnss_",  "libpthread.so", "libresolv.so", "libcuda.so", "libnvidia-"};

bool isOfHost(const std::string &library) {
  const std::string name = fs::path(library).filename().string();
  return name.empty() ||
         std::ranges::any_of(kOfHosts, [&](auto prefix) { return name.starts_with(prefix); });
}

/// Links to the files, under their names in the folder.
class Stage {
public:
  static Result<Stage> of(const std::vector<SyncedFile> &files) {
    std::error_code error;
    Stage stage(fs::temp_directory_path(error) / ("lstmc-" + randomSuffix()));
    for (const SyncedFile &file : files) {
      fs::create_directories((stage.path_ / file.to).parent_path(), error);
      fs::create_symlink(fs::absolute(file.from), stage.path_ / file.to, error);
      if (error)
        return failAt({file.from}, ErrorCode::E0601, "cannot be linked to in {}: {}",
                      stage.path_.string(), error.message());
    }
    return stage;
  }
  Stage(Stage &&other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~Stage() {
    std::error_code error;
    if (!path_.empty())
      fs::remove_all(path_, error);
  }
  std::string path() const { return path_.string(); }

private:
  explicit Stage(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

/// Words that run a script of the shell with these arguments on a host.
std::vector<std::string> shellOn(const std::string &host, int sshPort, const std::string &script,
                                 const std::vector<std::string> &arguments) {
  std::vector<std::string> words{"sh", "-c", script, "sh"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (isThisMachine(host))
    return words;
  std::vector<std::string> ssh = sshWords(sshPort);
  ssh.insert(ssh.end(), {host, quotedWords(words)});
  return ssh;
}

/// Those of `files` that the host's folder lacks, or has with other bytes.
Result<std::vector<SyncedFile>> missingOn(const std::string &host, int sshPort,
                                          const std::vector<SyncedFile> &files,
                                          const std::map<std::string, std::string> &digests,
                                          const std::string &folder) {
  std::vector<std::string> arguments{folder};
  for (const SyncedFile &file : files)
    arguments.push_back(file.to);
  LSTMC_ASSIGN(std::string said, outputHere(shellOn(host, sshPort,
                                                    "cd \"$1\" 2>/dev/null || exit 0; shift; "
                                                    "sha256sum -- \"$@\" 2>/dev/null; exit 0",
                                                    arguments),
                                            "ssh"));
  std::map<std::string, std::string> there;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);)
    if (line.size() > 66) // the digest, two characters, and the name
      there[line.substr(66)] = line.substr(0, 64);
  std::vector<SyncedFile> missing;
  for (const SyncedFile &file : files)
    if (auto found = there.find(file.to);
        found == there.end() || found->second != digests.at(file.from))
      missing.push_back(file);
  return missing;
}

/// Copies by tar through a pipe to the host. Local failures show up there as a missing file.
Status copy(const std::vector<SyncedFile> &files, const std::string &folder,
            const std::string &host, int sshPort) {
  LSTMC_ASSIGN(Stage stage, Stage::of(files));
  std::vector<std::string> pack{"tar", "-c", "-h", "-f", "-", "-C", stage.path(), "--"};
  for (const SyncedFile &file : files)
    pack.push_back(file.to);
  const std::vector<std::string> unpack =
      shellOn(host, sshPort, "mkdir -p -- \"$1\" && tar -x -o -f - -C \"$1\"", {folder});
  return outputHere({"sh", "-c", quotedWords(pack) + " 2>/dev/null | " + quotedWords(unpack)},
                    "tar")
      .status();
}

std::string megabytes(const std::vector<SyncedFile> &files) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const SyncedFile &file : files)
    bytes += fs::file_size(file.from, error);
  return fmt::format("{:.1f} MiB", double(bytes) / (1 << 20));
}

/// Digests of local files; each is read once for all hosts.
Result<std::map<std::string, std::string>> digestsOf(const std::vector<SyncedFile> &files) {
  static std::map<std::string, std::string> known;
  for (const SyncedFile &file : files) {
    if (known.contains(file.from))
      continue;
    LSTMC_ASSIGN(InputFile input, InputFile::open(file.from));
    Sha256 digest;
    Bytes block;
    for (uint64_t begin = 0; begin < input.bytes(); begin += block.size()) {
      block.resize(size_t(std::min<uint64_t>(1 << 20, input.bytes() - begin)));
      LSTMC_TRY(input.read(begin, block));
      digest.update(block);
    }
    known[file.from] = digest.finish();
  }
  return known;
}

} // namespace

std::vector<SyncedFile> filesOfCommand(const std::string &mpiLibrary) {
  std::vector<std::string> libraries;
  ::dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *all) {
        static_cast<std::vector<std::string> *>(all)->emplace_back(info->dlpi_name);
        return 0;
      },
      &libraries);
  auto in = [](std::string_view folder, const std::string &file) {
    return fmt::format("{}/{}", folder, fs::path(file).filename().string());
  };
  const std::string program = ownProgram();
  std::vector<SyncedFile> files{{program, in(kSyncedPrograms, program)},
                                {mpiLibrary, in(kSyncedPrograms, mpiLibrary)}};
  for (const std::string &library : libraries)
    if (!isOfHost(library))
      files.push_back({library, in(kSyncedLibraries, library)});
  return files;
}

Status syncFiles(const std::vector<SyncedFile> &files, const std::string &folder,
                 const std::string &host, int sshPort,
                 const std::function<void(const std::string &)> &log) {
  LSTMC_ASSIGN(auto digests, digestsOf(files));
  auto named = [&](const Error &error) {
    return fail(ErrorCode::E0801, "host {} does not take files to {}: {}", host, folder,
                error.message);
  };
  Result<std::vector<SyncedFile>> missing = missingOn(host, sshPort, files, digests, folder);
  if (!missing.ok())
    return named(missing.error());
  log(fmt::format("host {} is sent {} of {} files, {}", host, missing->size(), files.size(),
                  megabytes(*missing)));
  if (missing->empty())
    return {};
  if (Status copied = copy(*missing, folder, host, sshPort); !copied.ok())
    return named(copied.error());
  LSTMC_ASSIGN(std::vector<SyncedFile> still, missingOn(host, sshPort, files, digests, folder));
  if (!still.empty())
    return named(fail(ErrorCode::E0801, "{} has not come as it is here", still[0].to));
  return {};
}

} // namespace lstmc::launch
