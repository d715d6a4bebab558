#include "frontend/driver/RankFiles.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <sys/stat.h>

#include "executor/base/OutputFile.h"
#include "executor/data/Sources.h"
#include "executor/ranks/Job.h"
#include "executor/training/Checkpoint.h"
#include "frontend/driver/Ranks.h"

namespace lstmc::driver {

namespace fs = std::filesystem;

namespace {

/// Bytes that are sent at a time.
constexpr uint64_t kChunk = 1 << 20;

/// Whether rank 0 sends files here; joins the job then. False for a process by itself.
Result<bool> sharesFiles(const DataOptions &options) {
  if (*options.dataOn == FilesOn::All || jobRanks() == 1)
    return false;
  LSTMC_ASSIGN(std::shared_ptr<Peers> job, joinJob());
  return job != nullptr;
}

Status sendText(std::string_view text) {
  for (int peer = 1; peer < jobRanks(); ++peer)
    LSTMC_TRY(joinedJob().link().sendText(peer, text));
  return {};
}

Status send(const data::StoredBytes &bytes) {
  LSTMC_TRY(sendText(std::to_string(bytes.size())));
  Bytes buffer;
  for (uint64_t begin = 0; begin < bytes.size(); begin += kChunk) {
    LSTMC_ASSIGN(std::span<const uint8_t> chunk,
                 bytes.read(begin, std::min(kChunk, bytes.size() - begin), buffer));
    LSTMC_TRY(sendText({reinterpret_cast<const char *>(chunk.data()), chunk.size()}));
  }
  return {};
}

Status receive(const std::function<Status(std::span<const uint8_t>)> &take) {
  ranks::Link &link = joinedJob().link();
  LSTMC_ASSIGN(std::string size, link.receiveText(0));
  uint64_t left = 0;
  std::from_chars(size.data(), size.data() + size.size(), left);
  while (left > 0) {
    LSTMC_ASSIGN(std::string chunk, link.receiveText(0));
    if (chunk.empty() || chunk.size() > left)
      return fail(ErrorCode::E0804, "rank 0 sent {} bytes of a file, want {}", chunk.size(), left);
    left -= chunk.size();
    LSTMC_TRY(take(asBytes(chunk)));
  }
  return {};
}

/// The files of `spec`, in an order that all ranks have.
std::vector<std::string *> filesOf(data::DataSpec &spec) {
  std::vector<std::string *> files;
  for (auto &[input, file] : spec.files)
    files.push_back(&file);
  if (!spec.vocabularyFile.empty())
    files.push_back(&spec.vocabularyFile);
  return files;
}

/// A name that is nobody's yet, where ScratchFile has its files.
std::string freshFolder() {
  const char *named = std::getenv("TMPDIR");
  return fmt::format("{}/lstmc-{}", named && *named ? named : "/tmp", randomSuffix());
}

Status sendFolder(const std::string &folder) {
  std::vector<std::string> names;
  std::error_code error, unknown;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->is_regular_file(unknown))
      names.push_back(at->path().filename().string());
  if (error)
    return failAt({folder}, ErrorCode::E0601, "cannot read: {}", error.message());
  std::ranges::sort(names);
  LSTMC_TRY(sendText(std::to_string(names.size())));
  for (const std::string &name : names) {
    LSTMC_TRY(sendText(name));
    LSTMC_ASSIGN(InputFile file, InputFile::open((fs::path(folder) / name).string()));
    LSTMC_TRY(send(data::StoredBytes(std::move(file))));
  }
  return {};
}

Status receiveFolder(const std::string &folder) {
  if (::mkdir(folder.c_str(), 0700) != 0)
    return failAt({folder}, ErrorCode::E0601, "cannot be made for a checkpoint of rank 0: {}",
                  std::strerror(errno));
  LSTMC_ASSIGN(std::string count, joinedJob().link().receiveText(0));
  for (int64_t left = std::atoll(count.c_str()); left > 0; --left) {
    LSTMC_ASSIGN(std::string name, joinedJob().link().receiveText(0));
    if (name.empty() || name.find('/') != std::string::npos || name == "." || name == "..")
      return fail(ErrorCode::E0804, "rank 0 sent a file whose name is no name");
    LSTMC_ASSIGN(OutputFile file, OutputFile::create((fs::path(folder) / name).string(),
                                                     OutputFile::Existing::Keep));
    LSTMC_TRY(receive([&](std::span<const uint8_t> bytes) { return file.write(bytes); }));
    LSTMC_TRY(file.commit());
  }
  return {};
}

} // namespace

PassingFolder::~PassingFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

Result<std::unique_ptr<data::DataSet>> loadForRanks(const DataOptions &options, data::DataSpec spec,
                                                    const data::Learned *learned,
                                                    const Limits &limits,
                                                    std::vector<ScratchFile> &kept) {
  LSTMC_ASSIGN(bool shares, sharesFiles(options));
  if (!shares)
    return data::DataSet::load(spec, learned, limits);
  if (jobRank() == 0) { // what cannot be read is not sent
    LSTMC_ASSIGN(std::unique_ptr<data::DataSet> data, data::DataSet::load(spec, learned, limits));
    for (const std::string *name : filesOf(spec)) {
      LSTMC_ASSIGN(data::StoredBytes bytes, data::readSource(spec, *name, /*held=*/0));
      LSTMC_TRY(send(bytes));
    }
    return data;
  }
  for (std::string *name : filesOf(spec)) {
    LSTMC_ASSIGN(ScratchFile file, ScratchFile::create());
    LSTMC_TRY(receive([&](std::span<const uint8_t> bytes) { return file.append(bytes); }));
    *name = file.path();
    kept.push_back(std::move(file));
  }
  spec.folders.clear(); // those of rank 0, which has looked there
  return data::DataSet::load(spec, learned, limits);
}

Result<std::unique_ptr<PassingFolder>> checkpointForRanks(const DataOptions &options,
                                                          const std::string &folder) {
  LSTMC_ASSIGN(bool shares, sharesFiles(options));
  if (!shares)
    return std::unique_ptr<PassingFolder>();
  if (jobRank() == 0) {
    LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(folder));
    LSTMC_TRY(sendFolder(found.checkpoint.folder));
    return std::unique_ptr<PassingFolder>();
  }
  auto own = std::make_unique<PassingFolder>(freshFolder());
  LSTMC_TRY(receiveFolder(own->path()));
  return own;
}

} // namespace lstmc::driver
