#include "executor/training/CheckpointWriter.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "executor/base/NoMemory.h"
#include "executor/base/NumberText.h"
#include "executor/base/OutputFile.h"
#include "executor/base/Sha256.h"
#include "executor/base/Threads.h"
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

/// A save: written by the caller, whose weights must not change meanwhile, and made safe by the
/// thread.
struct CheckpointWriter::Job {
  CheckpointState state;
  bool best = false;
  std::optional<Failed> failed;     ///< contents of kUpdateFile: this is no checkpoint
  std::string temporary = {};       ///< its folder
  std::vector<DiskFile> files = {}; ///< written, as state.files
  Status written = {};
  uint64_t bytes = 0; ///< of its files, but the manifest

  std::string name() const {
    return failed ? fmt::format("nan-{}", state.update + 1)
                  : fmt::format("update-{:06}", state.update);
  }
};

namespace {

/// What a file is made of: some bytes, then tensors from where they lie.
struct Contents {
  std::string name;
  std::span<const uint8_t> head;
  std::span<const StoredTensor> tensors = {};

  uint64_t bytes() const {
    uint64_t sum = head.size();
    for (const StoredTensor &tensor : tensors)
      sum += tensor.bytes();
    return sum;
  }
  /// As MemoryRange::eachPiece.
  template <typename F> Status eachPiece(F f) const {
    LSTMC_TRY(f(head));
    for (const StoredTensor &tensor : tensors)
      LSTMC_TRY(tensor.eachPiece(f));
    return {};
  }
};

/// The files of tensors, and their headers.
class TensorFiles {
public:
  explicit TensorFiles(Trainable &model) {
    add(kModelFile, model.parameters());
    add(kOptimizerFile, model.slots());
    if (std::vector<StoredTensor> states = model.states(); !states.empty())
      add(kStatesFile, std::move(states));
  }

  std::vector<Contents> contents() const {
    std::vector<Contents> all;
    for (const File &file : files_)
      all.push_back({std::string(file.name), asBytes(file.header), file.tensors});
    return all;
  }

  std::vector<TensorHash> hashes() const {
    std::vector<TensorHash> all;
    for (const File &file : files_)
      for (size_t i = 0; i < file.tensors.size(); ++i) {
        const StoredTensor &stored = file.tensors[i];
        std::span<const int64_t> shape = data::shapeOf(stored.tensor);
        all.push_back({std::string(file.name),
                       stored.name,
                       stored.tensor.dtype,
                       {shape.begin(), shape.end()},
                       file.hashes[i]});
      }
    return all;
  }

private:
  struct File {
    std::string_view name;
    std::vector<StoredTensor> tensors;
    std::vector<uint64_t> hashes; ///< of the tensors' bytes
    std::string header;
  };

  void add(std::string_view name, std::vector<StoredTensor> tensors) {
    std::vector<data::NamedTensor> named;
    std::vector<uint64_t> hashes;
    for (const StoredTensor &stored : tensors) {
      named.push_back({stored.name, stored.tensor});
      hashes.push_back(stored.hash());
    }
    std::string header = data::safetensorsHeader(named, {}, hashes);
    files_.push_back({name, std::move(tensors), std::move(hashes), std::move(header)});
  }

  std::vector<File> files_;
};

/// Where the disk is full of checkpoints that are kept.
Error withRemedy(Error error, const std::string &folder, uint64_t bytes) {
  std::error_code unknown;
  const std::filesystem::space_info disk = std::filesystem::space(folder, unknown);
  const size_t there = listCheckpoints(folder).size();
  if (unknown || disk.available >= bytes || there == 0)
    return error;
  error.message +=
      fmt::format("; a checkpoint takes {}, {} are free, and {} {} kept: ", bytesText(bytes),
                  bytesText(disk.available), there, there == 1 ? "is" : "are");
  error.message += there > 1 ? fmt::format("--keep {} keeps fewer", there - 1)
                             : "there has to be room for the next one beside the last";
  return error;
}

} // namespace

CheckpointWriter::CheckpointWriter(Options options) : options_(std::move(options)) {
  finished_.reserve(kMostToTell);
}

Result<std::unique_ptr<CheckpointWriter>> CheckpointWriter::open(const Options &options) try {
  std::error_code error;
  const std::string &folder = options.folder;
  std::filesystem::create_directories(folder, error);
  std::unique_ptr<CheckpointWriter> writer(new CheckpointWriter(options));
  writer->lock_ = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (writer->lock_ < 0)
    return failAt({folder}, ErrorCode::E0601, "cannot use as the folder of checkpoints: {}",
                  std::strerror(errno));
  LSTMC_TRY(writer->lock());

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
  for (const std::string &name : namesIn(folder))
    if (name.starts_with(kTrash) || name.starts_with(kTemporary))
      removeFolder(fmt::format("{}/{}", folder, name));
  writer->thread_ = std::thread([raw = writer.get()] { raw->work(); });
  return writer;
} catch (const std::bad_alloc &) {
  return noMemory(options.folder);
} catch (const std::system_error &error) {
  return noThread("the thread that writes checkpoints", error);
}

Status CheckpointWriter::lock() {
  if (::flock(lock_, LOCK_EX | LOCK_NB) == 0)
    return {};
  const int why = errno;
  if (why == EWOULDBLOCK)
    return failAt({options_.folder}, ErrorCode::E0601,
                  "another process writes checkpoints to this folder");
  const Error error = failAt({options_.folder}, ErrorCode::E0601,
                             "cannot lock the folder of checkpoints: {}", std::strerror(why));
  if (why != ENOSYS && why != ENOLCK && why != EOPNOTSUPP)
    return error;
  unlocked_ = error;
  unlocked_->message += "; nothing keeps a second process from writing there";
  return {};
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
  enqueue(state, best, std::nullopt, model);
}

void CheckpointWriter::saveFailed(const CheckpointState &state, Trainable &model, Failed failed) {
  enqueue(state, false, std::move(failed), model);
}

void CheckpointWriter::enqueue(const CheckpointState &state, bool best,
                               std::optional<Failed> failed, Trainable &model) {
  std::unique_lock guard(mutex_);
  changed_.wait(guard, [&] { return !job_; });
  try {
    finished_.reserve(finished_.size() + kMostToTell);
    auto job = std::make_unique<Job>(Job{state, best, std::move(failed)});
    job->temporary = fmt::format("{}/{}{:06}.{}", options_.folder, kTemporary, job->state.update,
                                 randomSuffix());
    job->written = write(*job, model); // the thread has nothing to do until there is a job
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
    try {
      told.reserve(kMostToTell); // the room that the next save leaves its results in
    } catch (const std::bad_alloc &) {
      // That save asks again, and is the one to say so.
    }
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
    Result<SavedCheckpoint> result = makeSafe(job);
    guard.lock();
    finished_.push_back(std::move(result));
    job_.reset();
    changed_.notify_all();
  }
}

Status CheckpointWriter::step(std::string_view name, const std::string &path) const {
  return options_.fault ? options_.fault(name, path) : Status();
}

Result<SavedCheckpoint> CheckpointWriter::makeSafe(Job &job) try {
  std::string name = job.name();
  SavedCheckpoint saved{options_.folder + "/" + name, job.state.update, 0, {}, job.best};
  Status status = job.written;
  if (status.ok())
    status = seal(job, saved.sha256);
  if (status.ok())
    status = publish(job.temporary, name);
  if (!status.ok()) {
    removeFolder(job.temporary);
    return withRemedy(status.error(), options_.folder, job.bytes);
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

/// Everything but the manifest in the temporary folder, from where it lies in memory. The system
/// has it then, and the model may change.
Status CheckpointWriter::write(Job &job, Trainable &model) const try {
  const std::string &folder = job.temporary;
  LSTMC_TRY(step("create", folder));
  LSTMC_TRY(makeFolder(folder));
  TensorFiles tensors(model);
  job.state.files.clear();
  job.state.tensors = tensors.hashes();
  std::vector<Contents> all = tensors.contents();
  for (const auto &[name, contents] : options_.attachments)
    all.push_back({name, asBytes(job.failed && name == kPackageFile && !job.failed->package.empty()
                                     ? job.failed->package
                                     : contents)});
  if (job.failed)
    all.push_back({std::string(kUpdateFile), job.failed->update});

  for (const Contents &contents : all)
    job.bytes += contents.bytes();
  // The space of all of them first, so that a full disk is met before much is written.
  for (const Contents &contents : all) {
    std::string path = folder + "/" + contents.name;
    LSTMC_TRY(step("reserve", path));
    LSTMC_ASSIGN(DiskFile file, DiskFile::create(path));
    LSTMC_TRY(file.reserve(contents.bytes()));
    job.files.push_back(std::move(file));
    job.state.files.push_back({contents.name, contents.bytes(), {}});
  }
  for (size_t i = 0; i < all.size(); ++i) {
    Sha256 hash;
    LSTMC_TRY(step("write", folder + "/" + all[i].name));
    LSTMC_TRY(all[i].eachPiece([&](std::span<const uint8_t> piece) {
      hash.update(piece);
      return job.files[i].write(piece);
    }));
    job.state.files[i].sha256 = hash.finish();
  }
  return {};
} catch (const std::bad_alloc &) {
  return noMemory(job.temporary);
}

/// Steps 3 to 5 of the protocol: what was written synced, read back, and the manifest.
Status CheckpointWriter::seal(Job &job, std::string &manifestDigest) try {
  const std::string &folder = job.temporary;
  for (size_t i = 0; i < job.files.size(); ++i) {
    LSTMC_TRY(step("sync", folder + "/" + job.state.files[i].name));
    LSTMC_TRY(job.files[i].sync());
  }
  job.files.clear();
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
  return noMemory(job.temporary);
}

/// Step 6: under its name, for good.
Status CheckpointWriter::publish(const std::string &temporary, const std::string &name) {
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
