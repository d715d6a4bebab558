// Checkpoints as they are read: verified completely, or not at all.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "executor/data/SafeTensors.h"
#include "executor/training/CheckpointState.h"
#include "executor/training/Trainable.h"

namespace lstmc::training {

/// A checkpoint folder in memory.
struct Checkpoint {
  std::string folder;
  CheckpointState state;
  data::SafeTensors model, optimizer;
  std::optional<data::SafeTensors> states;  ///< what was carried between batches
  std::map<std::string, Bytes> attachments; ///< the rest: vocab.txt, the package
};

/// Reads one folder. Every file in the manifest must be there, of its size and digest (E0602,
/// E0609), the tensors those of the manifest (E0605); E0601, E0603 for what is no checkpoint.
Result<Checkpoint> readCheckpoint(const std::string &folder, const Limits &limits = {});

struct FoundCheckpoint {
  Checkpoint checkpoint;
  std::vector<Error> passedOver; ///< newer ones that did not verify, and why
};

/// The newest good checkpoint of a training folder, from newest to oldest update; or `path` itself
/// if it is a checkpoint. E0601 when there is none, with the reasons for those passed over.
Result<FoundCheckpoint> findCheckpoint(const std::string &path, const Limits &limits = {});

/// "update-000100" in `folder`, newest first.
std::vector<std::pair<int64_t, std::string>> listCheckpoints(const std::string &folder);

/// "nan-1041" in `folder`, newest first: FailedUpdate.h.
std::vector<std::pair<int64_t, std::string>> listFailedUpdates(const std::string &folder);

/// Whether it was written by another minor release, which makes another digest of the same network.
bool hasOtherDigests(const Checkpoint &checkpoint, const Identity &identity);

/// Puts weights, optimizer state and carried states back. E0610 when the checkpoint belongs to
/// another model, optimizer, numeric class or shard count; `model` is then unchanged. Where digests
/// cannot be compared, names, types and shapes of all tensors are.
Status restore(const Checkpoint &checkpoint, const std::string &optimizer, Trainable &model);

/// What was learned from the data that it was trained on.
Result<data::Learned> learnedFrom(const Checkpoint &checkpoint);

/// Puts only the weights back, from any file or checkpoint that has them all. E0610 as above.
Status restoreParameters(const data::SafeTensors &weights, Trainable &model);

} // namespace lstmc::training
