// Data in memory, and the batches in which a network reads them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "executor/base/Limits.h"
#include "executor/base/RowWindow.h"
#include "executor/base/Tensor.h"
#include "executor/base/ValueRange.h"
#include "executor/data/Array.h"
#include "executor/data/DataSpec.h"

namespace lstmc::data {

/// An input of a network, and the memory into which its batches are written.
struct InputSlot {
  std::string name;
  bool label = false;
  Tensor tensor;                        ///< any strides; N is its extent along `batchAxis`
  int batchAxis = 0;                    ///< the axis whose dim is called "batch", else the first
  std::optional<ValueRange> range = {}; ///< which values are valid for the input
  RowWindow rows = {};                  ///< of a batch, those that are wanted
};

/// Which part of the samples. With `valid=` in the spec, Train is the part before the validation
/// part.
enum class Part { All, Train, Valid };

/// A place in the data: batch `batch` of epoch `epoch`, both from 0. The contents of the batch
/// follow from this place, the seed and the data, so a resumed run needs only these two numbers.
struct Position {
  int64_t epoch = 0;
  int64_t batch = 0;
};

/// Batches of one part of the data, for the slots that the feed was made for.
class Feed {
public:
  virtual ~Feed() = default;
  /// Number of batches in an epoch; at least 1.
  virtual int64_t batches() const = 0;
  /// Number of sequences in a batch.
  virtual int64_t sequences() const = 0;
  /// How many of these are data; they come first. After them, the last batch may repeat the last
  /// sample, but never in training.
  virtual int64_t rows(const Position &) const { return sequences(); }
  /// The data that no batch contains, in words: "2 of 14 samples fill no batch of 4". Empty if
  /// batches contain all.
  virtual std::string leftOut() const { return {}; }
  /// Writes to each slot at least the rows of a batch that are wanted of it.
  /// `position.batch` has to be below batches(). Fails only where the data are in a file: E0601,
  /// and E0602 or E0605 if the file is not as it was.
  virtual Status fill(const Position &position) = 0;
  /// Whether carried states must be zero before this batch, because its sequences continue none.
  /// Before any other batch, row i continues row i of the batch before.
  virtual bool restarts(const Position &position) const = 0;
  /// Why every batch restarts, and what would change that, in words; empty if not every one does.
  virtual std::string whyIndependent() const { return {}; }
  /// What who carries states should know of these batches, in words; empty: nothing.
  virtual std::string carriedRemark() const { return {}; }

  /// Whether a training can go on from a position: that, seed and data say what a batch is, or with
  /// them what mark() has said there.
  virtual bool goesOn() const { return true; }
  /// Where the source is before that batch, which is the one that was filled last or the next.
  /// Empty where a position says it.
  virtual Result<std::string> mark(const Position &) { return std::string(); }
  /// The next batch filled will be that one. Errors are those of fill(), and E0610 for a source
  /// that cannot.
  virtual Status goTo(const Position &, std::string_view /*mark*/) { return {}; }
};

/// Training batches of sequences in buckets: the sequences of a batch are of one, and are written
/// to its slots.
class BucketFeed : public Feed {
public:
  /// Index into DataSpec::buckets of the batch.
  virtual size_t bucket(const Position &position) = 0;
};

/// Every sample once, in the order of the data: what predictions are made for.
struct Samples {
  std::unique_ptr<Feed> feed; ///< rows() of its batches are the samples
  int64_t count = 0;          ///< of samples
  /// Of a text, whose samples are windows of its symbols, the last one filled up: how many there
  /// are, and the number of each in the vocabulary. 0: no text.
  int64_t symbols = 0;
  std::function<Result<int64_t>(int64_t)> symbolAt = {};
  /// Of a table: the row, from 1, that is to be predicted from each sample; it may not be there
  /// yet. Empty: samples stand for themselves.
  std::vector<int64_t> rows = {};
};

/// The column of a table that is predicted, and how its values became labels.
struct Target {
  std::string name;
  double mean = 0, deviation = 1;   ///< a label is (value - mean) / deviation
  std::vector<std::string> symbols; ///< of a text column: a label is the number of one; else empty
};

/// The array of an input, samples along one of its axes.
struct ArrayShape {
  std::string input;
  std::vector<int64_t> shape;
};

/// What is learned from the training data and has to be the same for other data of the model.
struct Learned {
  std::optional<Vocabulary> vocabulary;
  std::optional<TextUnit> unit; ///< the unit of the vocabulary's symbols
  std::string scaling;          ///< a table's columns as JSON text; empty: none
};

/// Why the numbers of one data set mean something else in another; empty where they do not, or
/// where one of the two has learned nothing.
std::string whyUnlike(const Learned &one, const Learned &other);

/// Data after reading, before the shapes of the network are known.
class DataSet {
public:
  virtual ~DataSet() = default;

  /// Reads the files that `spec` names. `learned`, from a checkpoint or from the training data,
  /// gives the vocabulary and scaling; otherwise they are made from these data. Errors are those of
  /// the readers.
  static Result<std::unique_ptr<DataSet>>
  load(const DataSpec &spec, const Learned *learned = nullptr, const Limits &limits = {});
  /// Arrays that are in memory already, as `npz:` has them. Of `spec` count the keys of that kind;
  /// messages call them by its `source`.
  static std::unique_ptr<DataSet> ofArrays(std::vector<NamedArray> arrays, DataSpec spec);

  /// A feed for `slots`. The part Train has whole batches only, shuffled by `seed` if the spec asks
  /// for it; other parts have every sample. E0605 if shapes do not match or the samples fill no
  /// batch, E0610 if an input has no data, E0604 if a value does not fit an input's type or range.
  virtual Result<std::unique_ptr<Feed>> feed(Part part, std::vector<InputSlot> slots,
                                             uint64_t seed) const = 0;

  /// The training part in the buckets of spec(), with the slots of each; their steps have to be the
  /// bucket's. E0610 for data without buckets, and the errors of feed().
  virtual Result<std::unique_ptr<BucketFeed>>
  bucketFeed(const std::vector<std::vector<InputSlot>> &slots, uint64_t seed) const;

  /// Whether samples() can fill that slot. Labels are not read but from arrays.
  virtual bool fills(const InputSlot &slot) const { return !slot.label; }
  /// Every sample for `slots`, all of which fills() holds for. Of a text the windows; `carried`:
  /// one after the other in the first row of a batch, as states that are carried need it, else a
  /// window a row. Errors are those of feed().
  virtual Result<Samples> samples(std::vector<InputSlot> slots, bool carried) const;
  /// Nothing if the data are no table, or name no column to predict.
  virtual std::optional<Target> target() const { return std::nullopt; }

  /// Set where the data are arrays by input.
  virtual std::vector<ArrayShape> arrayShapes() const { return {}; }

  /// What was learned from these data, to be stored in a checkpoint.
  virtual Learned learned() const { return {}; }
  /// SHA-256 over the sources, to check that a resumed run has the data it began with.
  const std::string &digest() const { return digest_; }
  const DataSpec &spec() const { return spec_; }

protected:
  explicit DataSet(DataSpec spec) : spec_(std::move(spec)) {}
  DataSpec spec_;
  std::string digest_;
};

/// DataSet::digest() of the files of `spec`, without parsing them.
Result<std::string> filesDigest(const DataSpec &spec);

} // namespace lstmc::data
