#include "executor/data/Sequences.h"

#include <algorithm>

namespace lstmc::data {
namespace {

std::string joined(std::string a, const std::string &b) {
  return a.empty() || b.empty() ? a + b : a + "; " + b;
}

std::string ofTheirOwn(const std::string &what) {
  return fmt::format("{} are sequences of their own, which continue none", what);
}

class SequenceFeed : public Feed {
public:
  SequenceFeed(std::unique_ptr<SequenceWriter> writer, ChosenSequences chosen, int64_t batch,
               Part part, SampleOrder order)
      : writer_(std::move(writer)), chosen_(std::move(chosen)), batch_(batch), part_(part),
        order_(std::move(order)) {}

  int64_t batches() const override { return batchesOf(order_.count(), batch_, part_); }
  int64_t sequences() const override { return batch_; }
  int64_t rows(const Position &position) const override {
    return rowsOf(order_.count(), batch_, position.batch);
  }
  std::string leftOut() const override {
    return joined(chosen_.leftOut(), samplesLeftOut(order_.count(), batch_, part_, chosen_.what));
  }
  bool restarts(const Position &) const override { return true; }
  std::string whyIndependent() const override { return ofTheirOwn(chosen_.what); }

  Status fill(const Position &position) override {
    for (int64_t n = 0; n < batch_; ++n) {
      const int64_t place = std::min(position.batch * batch_ + n, order_.count() - 1);
      LSTMC_TRY(writer_->write(chosen_.numbers[size_t(order_.at(position.epoch, place))], n));
    }
    return {};
  }

private:
  std::unique_ptr<SequenceWriter> writer_;
  ChosenSequences chosen_;
  int64_t batch_;
  Part part_;
  SampleOrder order_;
};

class SequenceBuckets : public BucketFeed {
public:
  SequenceBuckets(std::vector<std::unique_ptr<SequenceWriter>> writers,
                  std::vector<uint32_t> bucketOf, ChosenSequences chosen, int64_t batch,
                  SampleOrder order)
      : writers_(std::move(writers)), bucketOf_(std::move(bucketOf)), chosen_(std::move(chosen)),
        batch_(batch), order_(std::move(order)) {
    std::vector<int64_t> sizes(writers_.size());
    for (uint32_t bucket : bucketOf_)
      ++sizes[bucket];
    for (int64_t size : sizes)
      batches_ += size / batch_;
  }

  int64_t batches() const override { return batches_; }
  int64_t sequences() const override { return batch_; }
  std::string leftOut() const override {
    const int64_t rest = chosen_.count() - batches() * batch_;
    return joined(chosen_.leftOut(),
                  rest == 0 ? ""
                            : fmt::format("{} of {} {} fill no batch of {} of a bucket", rest,
                                          chosen_.count(), chosen_.what, batch_));
  }
  bool restarts(const Position &) const override { return true; }
  std::string whyIndependent() const override { return ofTheirOwn(chosen_.what); }

  size_t bucket(const Position &position) override { return batchAt(position).bucket; }

  Status fill(const Position &position) override {
    const Batch &batch = batchAt(position);
    for (int64_t n = 0; n < batch_; ++n)
      LSTMC_TRY(writers_[batch.bucket]->write(
          chosen_.numbers[size_t(members_[size_t(batch.first + n)])], n));
    return {};
  }

private:
  struct Batch {
    size_t bucket;
    int64_t first; ///< of batch_ members
  };

  const Batch &batchAt(const Position &position) {
    if (position.epoch != epoch_)
      arrange(position.epoch);
    return arranged_[size_t(position.batch)];
  }

  void arrange(int64_t epoch) {
    arranged_.clear();
    members_.clear();
    std::vector<std::vector<int64_t>> waiting(writers_.size());
    for (int64_t place = 0; place < order_.count(); ++place) {
      const int64_t member = order_.at(epoch, place);
      const size_t bucket = bucketOf_[size_t(member)];
      waiting[bucket].push_back(member);
      if (int64_t(waiting[bucket].size()) < batch_)
        continue;
      arranged_.push_back({bucket, int64_t(members_.size())});
      members_.insert(members_.end(), waiting[bucket].begin(), waiting[bucket].end());
      waiting[bucket].clear();
    }
    epoch_ = epoch;
  }

  std::vector<std::unique_ptr<SequenceWriter>> writers_;
  std::vector<uint32_t> bucketOf_; ///< of each chosen sequence
  ChosenSequences chosen_;
  int64_t batch_;
  SampleOrder order_;
  int64_t batches_ = 0; ///< of an epoch
  int64_t epoch_ = -1;  ///< that the rest is of
  std::vector<Batch> arranged_;
  std::vector<int64_t> members_; ///< of all batches, as numbers among those chosen
};

} // namespace

std::string ChosenSequences::leftOut() const {
  return longer == 0 ? ""
                     : fmt::format("{} of {} {} have more than {} steps", longer, longer + count(),
                                   what, steps);
}

ChosenSequences chooseSequences(const std::vector<int64_t> &steps, int64_t most, std::string what) {
  ChosenSequences chosen{std::move(what), {}, 0, most};
  for (size_t i = 0; i < steps.size(); ++i)
    if (steps[i] <= most)
      chosen.numbers.push_back(int64_t(i));
  chosen.longer = int64_t(steps.size()) - chosen.count();
  return chosen;
}

std::unique_ptr<Feed> sequenceFeed(std::unique_ptr<SequenceWriter> writer, ChosenSequences chosen,
                                   int64_t batch, Part part, bool shuffle, uint64_t seed) {
  SampleOrder order(chosen.count(), shuffle, seed);
  return std::make_unique<SequenceFeed>(std::move(writer), std::move(chosen), batch, part,
                                        std::move(order));
}

Result<std::unique_ptr<BucketFeed>> bucketFeed(std::vector<std::unique_ptr<SequenceWriter>> writers,
                                               const std::vector<int64_t> &buckets,
                                               const std::vector<int64_t> &steps,
                                               ChosenSequences chosen, int64_t batch, bool shuffle,
                                               uint64_t seed) {
  std::vector<uint32_t> bucketOf;
  for (int64_t number : chosen.numbers)
    bucketOf.push_back(
        uint32_t(std::ranges::lower_bound(buckets, steps[size_t(number)]) - buckets.begin()));
  SampleOrder order(chosen.count(), shuffle, seed);
  auto feed = std::make_unique<SequenceBuckets>(std::move(writers), std::move(bucketOf),
                                                std::move(chosen), batch, std::move(order));
  if (feed->batches() == 0)
    return fail(ErrorCode::E0605,
                "buckets: found none of {} sequences or more, which are a batch ({})", batch,
                feed->leftOut());
  return std::unique_ptr<BucketFeed>(std::move(feed));
}

} // namespace lstmc::data
