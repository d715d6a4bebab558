// Checkpoints as they are written: complete under their name, or not there.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "executor/training/CheckpointState.h"
#include "executor/training/Trainable.h"

namespace lstmc::training {

/// Asked before every step of a save that touches the disk, with its name ("create", "reserve",
/// "write", "sync", "read back", "manifest", "sync folder", "rename", "sync parent", "link",
/// "trash", "remove") and a file. An error makes that step fail; a test may as well end the process
/// here.
using FaultHook = std::function<Status(std::string_view step, const std::string &path)>;

struct SavedCheckpoint {
  std::string path;
  int64_t update = 0;
  uint64_t bytes = 0;
  std::string sha256; ///< of the manifest, which has those of all files
  bool best = false;
};

/// Writes `update-NNNNNN` and `nan-UPDATE` folders beneath one training folder by the protocol of
/// design note 019, without a copy: the caller waits until the system has taken all bytes, and a
/// background thread syncs them to the disk. One process at a time holds the folder.
class CheckpointWriter {
public:
  struct Options {
    std::string folder;
    int keep = 3;          ///< newest ones kept besides the best
    int64_t keepEvery = 0; ///< and for good, the first of every so many updates; 0: none
    /// Checkpoints already there: an error (E0608), left to go on from, or removed once the first
    /// one of this run is safe.
    enum class Existing { Refuse, GoOn, Replace } existing = Existing::Refuse;
    std::vector<std::pair<std::string, std::string>> attachments; ///< file name and contents
    FaultHook fault;
  };

  /// Makes the folder if need be, takes its lock (E0601 when another process has it), starts the
  /// thread (E0901), and removes what an interrupted save left. A file system without locks
  /// (Lustre without -o flock, NFS without lockd) is used without one: `unlocked`.
  static Result<std::unique_ptr<CheckpointWriter>> open(const Options &options);
  ~CheckpointWriter();

  /// Writes the model's tensors from where they lie, and leaves to the thread what takes a disk's
  /// time; waits for the save before, if that is not done. `best` moves the link of that name here.
  void save(const CheckpointState &state, Trainable &model, bool best);
  struct Failed {
    Bytes update;             ///< kUpdateFile (FailedUpdate.h)
    std::string package = {}; ///< instead of the attachment kPackageFile, unless empty
  };
  /// The same for the update after `state` that failed: `nan-UPDATE`. It is no checkpoint: nothing
  /// is removed for it, and no link leads to it.
  void saveFailed(const CheckpointState &state, Trainable &model, Failed failed);
  /// Why the folder has no lock; none where it has.
  const std::optional<Error> &unlocked() const { return unlocked_; }
  /// What has become of saves since the last call, in order; `wait` for the one that runs.
  std::vector<Result<SavedCheckpoint>> finished(bool wait);

private:
  struct Job;
  explicit CheckpointWriter(Options options);
  Status lock();
  void enqueue(const CheckpointState &state, bool best, std::optional<Failed> failed,
               Trainable &model);
  void work();
  Status write(Job &job, Trainable &model) const;
  Result<SavedCheckpoint> makeSafe(Job &job);
  Status seal(Job &job, std::string &manifestDigest);
  Status publish(const std::string &temporary, const std::string &name);
  Status link(const std::string &name, const std::string &target);
  Status removeOld(int64_t newest);
  Status toTrash(const std::string &name);
  Status step(std::string_view name, const std::string &path) const;

  Options options_;
  int lock_ = -1;
  std::optional<Error> unlocked_;
  std::vector<std::string> stale_; ///< checkpoints of an earlier run, to be replaced

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Job> job_; ///< written, and being made safe
  std::vector<Result<SavedCheckpoint>> finished_;
  bool stop_ = false;
  std::thread thread_;
};

} // namespace lstmc::training
