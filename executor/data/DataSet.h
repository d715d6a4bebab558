// Data in memory, and the batches that a network is fed from them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/base/Limits.h"
#include "executor/base/Tensor.h"
#include "executor/base/ValueRange.h"
#include "executor/data/DataSpec.h"

namespace lstmc::data {

/// An input of a network and the memory that a batch of it goes to.
struct InputSlot {
  std::string name;
  bool label = false;
  Tensor tensor;                        ///< any strides; N is its extent along `batchAxis`
  int batchAxis = 0;                    ///< the one whose dim is called "batch", else the first
  std::optional<ValueRange> range = {}; ///< which values the network has a place for
};

/// Which samples: of a spec with `valid=`, Train is what comes before the part kept back.
enum class Part { All, Train, Valid };

/// A place in the data: batch `batch` of epoch `epoch`, both from 0. What is filled there is a
/// function of this, the seed and the data alone, so these two numbers are all that a resume needs.
struct Position {
  int64_t epoch = 0;
  int64_t batch = 0;
};

/// Batches of one part, for the slots it was made for.
class Feed {
public:
  virtual ~Feed() = default;
  /// In an epoch; at least 1.
  virtual int64_t batches() const = 0;
  /// Sequences in a batch.
  virtual int64_t sequences() const = 0;
  /// How many of them are data, the first ones: the last batch may repeat the last sample after
  /// them, but never in training.
  virtual int64_t rows(const Position &) const { return sequences(); }
  /// What no batch has, in words: "2 of 14 samples fill no batch of 4"; empty where all have a
  /// place.
  virtual std::string leftOut() const { return {}; }
  /// Writes a batch to the slots. `position.batch` is below batches().
  virtual void fill(const Position &position) = 0;
  /// Whether carried states must be zero before this batch: its sequences go on from nothing.
  virtual bool restarts(const Position &position) const = 0;
};

/// What was learned from the training data and must be the same for other data of the same model.
struct Learned {
  std::optional<Vocabulary> vocabulary;
  std::optional<TextUnit> unit; ///< of the vocabulary's symbols
  std::string scaling;          ///< JSON text of a table's columns; empty: none
};

/// Data as read, before shapes are known.
class DataSet {
public:
  virtual ~DataSet() = default;

  /// Reads what `spec` names. With `learned` (of a checkpoint, or of the training data), its
  /// vocabulary and scaling are used instead of made. Errors are those of the readers.
  static Result<std::unique_ptr<DataSet>>
  load(const DataSpec &spec, const Learned *learned = nullptr, const Limits &limits = {});

  /// A feed over `slots`, shuffled by `seed` if the spec says so and the part is Train, whose
  /// batches are whole; of the other parts every sample is fed. E0605 when shapes do not go
  /// together or there is not one batch, E0610 when an input has no data, E0604 when a value does
  /// not fit an input's type or is outside of its range.
  virtual Result<std::unique_ptr<Feed>> feed(Part part, std::vector<InputSlot> slots,
                                             uint64_t seed) const = 0;

  /// What was learned from these data, to be kept with a checkpoint.
  virtual Learned learned() const { return {}; }
  /// SHA-256 over the sources, so that a resumed run sees the data it began with.
  const std::string &digest() const { return digest_; }
  const DataSpec &spec() const { return spec_; }

protected:
  explicit DataSet(DataSpec spec) : spec_(std::move(spec)) {}
  DataSpec spec_;
  std::string digest_;
};

/// What DataSet::digest() of the files of `spec` is, without a look at what they hold.
Result<std::string> filesDigest(const DataSpec &spec);

} // namespace lstmc::data
