// Batches of whole sequences: one a row, filled up to the steps of the input.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "executor/data/Shuffle.h"
#include "executor/data/Sources.h"

namespace lstmc::data {

/// Writes sequences to the slots that it was made for.
class SequenceWriter {
public:
  virtual ~SequenceWriter() = default;
  /// To a row of the batch. Errors are those of Feed::fill().
  virtual Status write(int64_t sequence, int64_t row) = 0;
};

/// Sequences that batches are made of.
struct ChosenSequences {
  std::string what;             ///< "lines"
  std::vector<int64_t> numbers; ///< of those that batches may have, ascending
  int64_t longer = 0;           ///< how many more there are, which have too many steps
  int64_t steps = 0;            ///< more than these

  int64_t count() const { return int64_t(numbers.size()); }
  /// "2 of 14 lines have more than 40 steps"; empty if none has.
  std::string leftOut() const;
};

/// Of `steps.size()` sequences those that have at most `most` steps.
ChosenSequences chooseSequences(const std::vector<int64_t> &steps, int64_t most, std::string what);

/// A feed of one length.
std::unique_ptr<Feed> sequenceFeed(std::unique_ptr<SequenceWriter> writer, ChosenSequences chosen,
                                   int64_t batch, Part part, bool shuffle, uint64_t seed);

/// A feed of the lengths `buckets`, ascending, with a writer for each. `steps` are those of all
/// sequences.
///
/// A sequence is of the first bucket that holds it. Of an epoch's sequences, in their order, each
/// that makes a batch of its bucket full makes the next batch: so the order of batches is drawn
/// with that of sequences, and one bucket has the batches of sequenceFeed().
Result<std::unique_ptr<BucketFeed>> bucketFeed(std::vector<std::unique_ptr<SequenceWriter>> writers,
                                               const std::vector<int64_t> &buckets,
                                               const std::vector<int64_t> &steps,
                                               ChosenSequences chosen, int64_t batch, bool shuffle,
                                               uint64_t seed);

} // namespace lstmc::data
