// The manifest of a checkpoint: state.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "executor/abi/DType.h"
#include "executor/base/Limits.h"
#include "executor/data/DataSet.h"
#include "executor/training/Metrics.h"
#include "executor/training/Schedule.h"
#include "executor/training/Trainable.h"

namespace lstmc::training {

inline constexpr int kCheckpointFormat = 1;
inline constexpr std::string_view kManifest = "state.json";
inline constexpr std::string_view kModelFile = "model.safetensors";
inline constexpr std::string_view kOptimizerFile = "optimizer.safetensors";
inline constexpr std::string_view kStatesFile = "states.safetensors";
inline constexpr std::string_view kVocabularyFile = "vocab.txt";
inline constexpr std::string_view kPackageFile = "model.lstmc";
/// That of one symbol at a time, of a training on texts.
inline constexpr std::string_view kSamplePackageFile = "sample.lstmc";

struct FileRecord {
  std::string name;
  uint64_t bytes = 0;
  std::string sha256;
};

struct TensorHash {
  std::string file, name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  uint64_t hash = 0; ///< base/Hash.h
};

/// Everything but the tensors that a run needs to go on as if it had not stopped.
struct CheckpointState {
  // Identity.
  std::string version; ///< of lstmc
  Identity identity;
  std::string optimizer;

  // Progress: `position` is that of the next update.
  int64_t update = 0;
  data::Position position;
  int64_t epochBatches = 0; ///< of an epoch; 0: older checkpoints do not say it
  int64_t labels = 0, samples = 0;
  double seconds = 0;
  std::string source, sourceDigest;
  std::string mark;                   ///< of the data at `position`, where they have one
  std::string scaling;                ///< data::Learned, in JSON
  std::optional<data::TextUnit> unit; ///< the same; older checkpoints say nothing of it
  int worseValidations = 0;
  std::optional<double> bestLoss;
  int64_t bestUpdate = 0;
  std::string judge;               ///< by which validations are judged, where it is not the loss
  std::optional<double> bestValue; ///< of that metric
  std::optional<double> validLoss; ///< of this update, if it was validated
  std::optional<PlateauState> plateau; ///< of that schedule

  // Numbers.
  uint64_t seed = 0;
  double lossScale = 1;
  std::vector<MetricValues> running; ///< sums since the last line of the log, per head
  int64_t runningUpdates = 0;

  // Files, and the tensors in them.
  std::vector<FileRecord> files;
  std::vector<TensorHash> tensors;

  std::string text() const;
  /// E0602, E0609 when the line that seals the manifest is missing or differs; E0603, E0604, E0612,
  /// with the field, for a manifest that is none; E0603 for a newer format.
  static Result<CheckpointState> parse(std::string_view text, const std::string &file,
                                       const Limits &limits = {});
};

} // namespace lstmc::training
