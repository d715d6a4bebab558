#include "frontend/cli/SyncedFiles.h"

#include <algorithm>
#include <filesystem>

#include "executor/base/OwnProgram.h"
#include "executor/data/DataSpec.h"
#include "executor/training/Checkpoint.h"
#include "frontend/cli/Operand.h"
#include "frontend/driver/SettingText.h"
#include "frontend/launch/Ssh.h"
#include "frontend/launch/Sync.h"

namespace lstmc::cli {

namespace fs = std::filesystem;
using launch::SyncedFile;

namespace {

/// A file, or those of a folder, by the name that they have for the ranks. Ranks are taken to have
/// what an absolute path names.
Status add(const std::string &path, std::vector<SyncedFile> &files) {
  std::error_code error;
  if (path.empty() || path == "-" || fs::path(path).is_absolute() || !fs::exists(path, error))
    return {};
  const std::string name = fs::path(path).lexically_normal().string();
  if (name.starts_with(".."))
    return fail(ErrorCode::E0001,
                "--sync-dst-dir copies files beneath the current folder, found {}; an absolute "
                "path is that of every host",
                path);
  if (!fs::is_directory(path, error)) {
    if (SyncedFile file{path, name}; std::ranges::find(files, file) == files.end())
      files.push_back(file);
    return {};
  }
  for (const fs::directory_entry &entry : fs::directory_iterator(path, error))
    if (entry.is_regular_file(error))
      LSTMC_TRY(add(entry.path().string(), files));
  return {};
}

/// A file of weights, a checkpoint, or the newest of a folder of them.
Status addWeights(const std::string &path, std::vector<SyncedFile> &files) {
  const auto checkpoints = training::listCheckpoints(path);
  return add(checkpoints.empty() ? path : path + "/" + checkpoints[0].second, files);
}

Status addData(const std::string &text, const std::string &folder, std::vector<SyncedFile> &files) {
  Result<data::DataSpec> spec = data::DataSpec::parse(text);
  if (!spec.ok())
    return {}; // a share of other data, or what the ranks will refuse
  for (const auto &[input, file] : spec->files)
    LSTMC_TRY(add((fs::path(folder) / file).string(), files));
  if (!spec->vocabularyFile.empty())
    LSTMC_TRY(add((fs::path(folder) / spec->vocabularyFile).string(), files));
  return {};
}

/// What the ranks read besides data; of a network that names data, these go to `data`.
Status addModel(const Options &command, std::vector<SyncedFile> &model,
                std::vector<SyncedFile> &data) {
  for (const std::string &path : command.operands) {
    if (!isSource(path)) {
      LSTMC_TRY(addWeights(path, model));
      LSTMC_TRY(add(fs::path(path).replace_extension(".safetensors").string(), model));
      continue;
    }
    Checked<symbol::Network> net = loadSource(path, command, {});
    if (!net.ok()) {
      LSTMC_TRY(add(path, model)); // the ranks say what is wrong
      continue;
    }
    for (const std::string &file : net->files)
      LSTMC_TRY(add(file, model));
    for (const package::Setting &setting : settingTexts(net->data))
      LSTMC_TRY(addData(setting.value, fs::path(path).parent_path().string(), data));
  }
  for (const auto &weights : {command.params, command.initParams})
    if (weights)
      LSTMC_TRY(addWeights(*weights, model));
  for (const std::string &file : command.config)
    LSTMC_TRY(add(file, model));
  for (const std::string &input : command.input) // NAME=@FILE
    if (const size_t at = input.find("=@"); at != std::string::npos)
      LSTMC_TRY(add(input.substr(at + 2), model));
  return {};
}

} // namespace

std::vector<std::string> hostsOf(const launch::Start &start) {
  std::vector<std::string> hosts;
  for (const std::string &host : start.hosts)
    if (std::ranges::find(hosts, host) == hosts.end())
      hosts.push_back(host);
  return hosts.empty() ? std::vector<std::string>{"localhost"} : hosts;
}

Status syncTo(const std::string &folder, const Options &command, const std::string &mpiLibrary,
              launch::Watch &watch) {
  launch::Start &start = watch.start;
  if (!fs::path(folder).is_absolute())
    return fail(ErrorCode::E0001, "--sync-dst-dir takes an absolute path, got \"{}\"", folder);
  if (start.hosts.empty() && start.launcher != launch::Launcher::Local)
    return fail(ErrorCode::E0001,
                "--sync-dst-dir copies by ssh to the hosts of -H; with {} they are not known here",
                wordOf(start.launcher));
  std::vector<SyncedFile> files = launch::filesOfCommand(mpiLibrary), data;
  LSTMC_TRY(addModel(command, files, data));
  for (const auto &spec : {command.data, command.valid})
    if (spec)
      LSTMC_TRY(addData(*spec, "", data));
  const bool first = *command.dataOn == FilesOn::Rank0;
  const std::vector<std::string> hosts = hostsOf(start);
  for (const std::string &host : hosts) {
    std::vector<SyncedFile> own = files;
    if (!first || host == hosts[0])
      own.insert(own.end(), data.begin(), data.end());
    LSTMC_TRY(launch::syncFiles(own, folder, host, start.sshPort, watch.log));
  }
  start.folder = folder;
  start.libraries = fmt::format("{}/{}", folder, launch::kSyncedLibraries);
  if (auto asked = start.environment.extract("LD_LIBRARY_PATH")) // by --env
    start.libraries += ":" + asked.mapped();
  return {};
}

std::string programOf(const launch::Start &start) {
  const fs::path here = ownProgram();
  return start.folder.empty() ? here.string()
                              : fmt::format("{}/{}/{}", start.folder, launch::kSyncedPrograms,
                                            here.filename().string());
}

} // namespace lstmc::cli
