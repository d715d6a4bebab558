#include "executor/training/CheckpointWriter.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/base/Hash.h"
#include "executor/base/NoMemory.h"
#include "executor/base/OutputFile.h"
#include "executor/base/Sha256.h"
#include "executor/data/SafeTensors.h"
#include "executor/training/Checkpoint.h"
#include "executor/training/DiskFile.h"
#include "executor/training/FailedUpdate.h"

namespace lstmc::training {
namespace {

constexpr std::string_view kTrash = ".trash-";
constexpr std::string_view kTemporary = ".update-";
/// Results of a save, of one that could not begin, and warnings of both: room for them is there
/// before they are, since telling that memory is out must not need any.
constexpr size_t kMostToTell = 4;

} // namespace

/// The state and a copy of every tensor that goes into one checkpoint.
struct CheckpointWriter::Job {
  CheckpointState state;
  bool best = false;
  std::optional<Bytes> failed; ///< contents of kUpdateFile: this is no checkpoint
  /// Tensors of each file as views of `memory`.
  std::vector<std::pair<std::string_view, std::vector<data::NamedTensor>>> files;
  Bytes memory;

  std::string name() const {
    return failed ? fmt::format("nan-{}", state.update + 1)
                  : fmt::format("update-{:06}", state.update);
  }

  void copy(Trainable &model) {
    files.clear();
    files.emplace_back(kModelFile, model.parameters());
    files.emplace_back(kOptimizerFile, model.slots());
    if (std::vector<data::NamedTensor> states = model.states(); !states.empty())
      files.emplace_back(kStatesFile, std::move(states));
    size_t bytes = 0;
    for (auto &[name, tensors] : files)
      for (const data::NamedTensor &named : tensors)
        bytes += data::bytesOf(named.tensor).size();
    memory.resize(bytes);
    size_t at = 0;
    for (auto &[name, tensors] : files) {
      for (data::NamedTensor &named : tensors) {
        std::span<const uint8_t> from = data::bytesOf(named.tensor);
        std::memcpy(memory.data() + at, from.data(), from.size());
        named.tensor.data = memory.data() + at;
        at += from.size();
      }
    }
  }
};

CheckpointWriter::CheckpointWriter(Options options) : options_(std::move(options)) {
  finished_.reserve(kMostToTell);
}

Result<std::unique_ptr<CheckpointWriter>> CheckpointWriter::open(Options options) try {
  std::error_code error;
  const std::string &folder = options.folder;
  std::filesystem::create_directories(folder, error);
  std::unique_ptr<CheckpointWriter> writer(new CheckpointWriter(options));
  writer->lock_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (writer->lock_ < 0)
    return failAt({folder}, ErrorCode::E0601, "cannot use as the folder of checkpoints: {}",
                  std::strerror(errno));
  if (::flock(writer->lock_, LOCK_EX | LOCK_NB) != 0)
    return failAt({folder}, ErrorCode::E0601, "another process writes checkpoints to this folder");

  std::vector<std::string> there;
  for (const auto &[update, name] : listCheckpoints(folder))
    there.push_back(name);
  if (!there.empty() && options.existing == Options::Existing::Refuse)
    return failAt({folder}, ErrorCode::E0608,
                  "found {} of an earlier run; --resume goes on from it, --force replaces it",
                  there.front());
  if (options.existing == Options::Existing::Replace) {
    writer->stale_ = std::move(there);
    for (const auto &[update, name] : listFailedUpdates(folder))
      writer->stale_.push_back(name);
  }
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.starts_with(kTrash) || name.starts_with(kTemporary))
      removeFolder(entry->path().string());
  }
  writer->thread_ = std::thread([raw = writer.get()] { raw->work(); });
  return writer;
} catch (const std::bad_alloc &) {
  return noMemory(options.folder);
}

CheckpointWriter::~CheckpointWriter() {
  {
    std::lock_guard guard(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
  if (lock_ >= 0)
    ::close(lock_);
}

void CheckpointWriter::save(const CheckpointState &state, Trainable &model, bool best) {
  enqueue(model, [&](Job &job) {
    job.state = state;
    job.best = best;
    job.failed.reset();
  });
}

void CheckpointWriter::saveFailed(const CheckpointState &state, Trainable &model, Bytes update) {
  enqueue(model, [&](Job &job) {
    job.state = state;
    job.best = false;
    job.failed = std::move(update);
  });
}

void CheckpointWriter::enqueue(Trainable &model, const std::function<void(Job &)> &describe) {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [&] { return !job_; });
  try {
    finished_.reserve(finished_.size() + kMostToTell);
    std::unique_ptr<Job> job = spare_ ? std::move(spare_) : std::make_unique<Job>();
    describe(*job);
    job->copy(model);
    job_ = std::move(job);
  } catch (const std::bad_alloc &) {
    finished_.emplace_back(noMemory(options_.folder));
  }
  changed_.notify_all();
}

std::vector<Result<SavedCheckpoint>> CheckpointWriter::finished(bool wait) {
  std::unique_lock guard(mutex_);
  if (wait)
    changed_.wait(guard, [&] { return !job_; });
  std::vector<Result<SavedCheckpoint>> told;
  if (!finished_.empty()) {
    told.reserve(kMostToTell);
    told.swap(finished_);
  }
  return told;
}

void CheckpointWriter::work() {
  std::unique_lock guard(mutex_);
  while (true) {
    changed_.wait(guard, [&] { return job_ || stop_; });
    if (!job_)
      return;
    Job &job = *job_;
    guard.unlock();
    Result<SavedCheckpoint> result = write(job);
    guard.lock();
    finished_.push_back(std::move(result));
    spare_ = std::move(job_);
    changed_.notify_all();
  }
}

Status CheckpointWriter::step(std::string_view name, const std::string &path) const {
  return options_.fault ? options_.fault(name, path) : Status();
}

Result<SavedCheckpoint> CheckpointWriter::write(Job &job) try {
  std::string name = job.name();
  std::string temporary =
      fmt::format("{}/{}{:06}.{}", options_.folder, kTemporary, job.state.update, randomSuffix());
  SavedCheckpoint saved{options_.folder + "/" + name, job.state.update, 0, {}, job.best};
  Status status = fill(job, temporary, saved.sha256);
  if (status.ok())
    status = publish(job, temporary, name);
  if (!status.ok()) {
    removeFolder(temporary);
    return status.error();
  }
  for (const FileRecord &file : job.state.files)
    saved.bytes += file.bytes;
  if (job.failed)
    return saved;
  // From here on the checkpoint is safe; what goes wrong is told, and the save still counts.
  status = link("last", name);
  if (status.ok() && job.best)
    status = link("best", name);
  if (status.ok())
    status = removeOld(job.state.update);
  if (!status.ok()) {
    std::lock_guard guard(mutex_);
    finished_.emplace_back(status.error());
  }
  return saved;
} catch (const std::bad_alloc &) {
  return noMemory(options_.folder);
}

/// Steps 2 to 5 of the protocol: everything in the temporary folder, synced and read back.
Status CheckpointWriter::fill(Job &job, const std::string &folder,
                              std::string &manifestDigest) try {
  LSTMC_TRY(step("create", folder));
  LSTMC_TRY(makeFolder(folder));
  job.state.files.clear();
  job.state.tensors.clear();

  struct Part {
    std::string name;
    std::vector<std::span<const uint8_t>> pieces;
  };
  std::vector<Part> parts;
  std::vector<std::string> headers;
  headers.reserve(job.files.size());
  for (const auto &[name, tensors] : job.files) {
    headers.push_back(data::safetensorsHeader(tensors));
    parts.push_back({std::string(name), {asBytes(headers.back())}});
    for (const data::NamedTensor &named : tensors) {
      std::span<const uint8_t> bytes = data::bytesOf(named.tensor);
      std::span<const int64_t> shape = data::shapeOf(named.tensor);
      parts.back().pieces.push_back(bytes);
      job.state.tensors.push_back({std::string(name),
                                   named.name,
                                   named.tensor.dtype,
                                   {shape.begin(), shape.end()},
                                   hashBytes(bytes.data(), bytes.size())});
    }
  }
  for (const auto &[name, contents] : options_.attachments)
    parts.push_back({name, {asBytes(contents)}});
  if (job.failed)
    parts.push_back({std::string(kUpdateFile), {*job.failed}});

  // The space of all of them first, so that a full disk is met before much is written.
  std::vector<DiskFile> files;
  for (const Part &part : parts) {
    std::string path = folder + "/" + part.name;
    uint64_t bytes = 0;
    for (std::span<const uint8_t> piece : part.pieces)
      bytes += piece.size();
    LSTMC_TRY(step("reserve", path));
    LSTMC_ASSIGN(DiskFile file, DiskFile::create(path));
    LSTMC_TRY(file.reserve(bytes));
    files.push_back(std::move(file));
    job.state.files.push_back({part.name, bytes, {}});
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string path = folder + "/" + parts[i].name;
    Sha256 hash;
    LSTMC_TRY(step("write", path));
    for (std::span<const uint8_t> piece : parts[i].pieces) {
      hash.update(piece);
      LSTMC_TRY(files[i].write(piece));
    }
    job.state.files[i].sha256 = hash.finish();
    LSTMC_TRY(step("sync", path));
    LSTMC_TRY(files[i].sync());
  }
  for (const FileRecord &file : job.state.files) {
    std::string path = folder + "/" + file.name;
    LSTMC_TRY(step("read back", path));
    LSTMC_ASSIGN(std::string digest, digestOfFile(path));
    if (digest != file.sha256)
      return failAt({path}, ErrorCode::E0609, "read back: found sha256 {}, want {}", digest,
                    file.sha256);
  }

  std::string manifest = job.state.text();
  std::string path = folder + "/" + std::string(kManifest);
  LSTMC_TRY(step("manifest", path));
  LSTMC_ASSIGN(DiskFile file, DiskFile::create(path));
  LSTMC_TRY(file.reserve(manifest.size()));
  LSTMC_TRY(file.write(asBytes(manifest)));
  LSTMC_TRY(step("sync", path));
  LSTMC_TRY(file.sync());
  manifestDigest = sha256(asBytes(manifest));
  LSTMC_ASSIGN(std::string digest, digestOfFile(path));
  if (digest != manifestDigest)
    return failAt({path}, ErrorCode::E0609, "read back: found sha256 {}, want {}", digest,
                  manifestDigest);
  LSTMC_TRY(step("sync folder", folder));
  return syncFolder(folder);
} catch (const std::bad_alloc &) {
  return noMemory(folder);
}

/// Step 6: under its name, for good.
Status CheckpointWriter::publish(Job &job, const std::string &temporary, const std::string &name) {
  std::string path = options_.folder + "/" + name;
  struct stat there{};
  bool present = ::lstat(path.c_str(), &there) == 0;
  LSTMC_TRY(step("rename", path));
  // What has the name already (of an earlier run, or one that did not verify) is never absent in
  // between.
  LSTMC_TRY(present ? swapNames(temporary, path) : renameTo(temporary, path));
  LSTMC_TRY(step("sync parent", options_.folder));
  LSTMC_TRY(syncFolder(options_.folder));
  if (present)
    removeFolder(temporary);
  std::erase(stale_, name);
  return {};
}

Status CheckpointWriter::link(const std::string &name, const std::string &target) {
  std::string path = options_.folder + "/" + name;
  std::string temporary = fmt::format("{}/{}{}", options_.folder, kTrash, randomSuffix());
  LSTMC_TRY(step("link", path));
  if (::symlink(target.c_str(), temporary.c_str()) != 0)
    return failAt({path}, ErrorCode::E0601, "cannot link: {}", std::strerror(errno));
  if (Status renamed = renameTo(temporary, path); !renamed.ok()) {
    ::unlink(temporary.c_str());
    return renamed;
  }
  return syncFolder(options_.folder);
}

/// Step 8: only what is older than the one just verified, and neither the best, nor among the
/// newest, nor the first of its `keepEvery` updates.
Status CheckpointWriter::removeOld(int64_t newest) {
  std::error_code error;
  std::string bestLink = options_.folder + "/best";
  std::string best = std::filesystem::read_symlink(bestLink, error).string();
  if (std::find(stale_.begin(), stale_.end(), best) != stale_.end())
    ::unlink(bestLink.c_str());
  std::vector<std::pair<int64_t, std::string>> there = listCheckpoints(options_.folder);
  std::erase_if(there, [&](const auto &entry) {
    return std::find(stale_.begin(), stale_.end(), entry.second) != stale_.end();
  });
  std::vector<std::string> old = stale_;
  for (size_t i = size_t(std::max(options_.keep, 1)); i < there.size(); ++i) {
    // What is kept for good stays the first of its updates, so this needs no memory of its own.
    int64_t before = i + 1 < there.size() ? there[i + 1].first : 0;
    bool forGood =
        options_.keepEvery > 0 && there[i].first / options_.keepEvery > before / options_.keepEvery;
    if (!forGood && there[i].first < newest)
      old.push_back(there[i].second);
  }
  for (const std::string &name : old) {
    bool isStale = std::find(stale_.begin(), stale_.end(), name) != stale_.end();
    if (isStale || name != best)
      LSTMC_TRY(toTrash(name));
  }
  stale_.clear();
  return {};
}

Status CheckpointWriter::toTrash(const std::string &name) {
  std::string path = options_.folder + "/" + name;
  std::string trash = fmt::format("{}/{}{}", options_.folder, kTrash, randomSuffix());
  LSTMC_TRY(step("trash", path));
  LSTMC_TRY(renameTo(path, trash));
  LSTMC_TRY(step("remove", trash));
  removeFolder(trash);
  return {};
}

} // namespace lstmc::training
