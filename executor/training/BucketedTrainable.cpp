#include "executor/training/BucketedTrainable.h"

#include <utility>

namespace lstmc::training {
namespace {

class ChoosingFeed : public data::Feed {
public:
  ChoosingFeed(BucketedTrainable &model, std::unique_ptr<data::BucketFeed> feed)
      : model_(model), feed_(std::move(feed)) {}

  int64_t batches() const override { return feed_->batches(); }
  int64_t sequences() const override { return feed_->sequences(); }
  std::string leftOut() const override { return feed_->leftOut(); }
  bool restarts(const data::Position &position) const override { return feed_->restarts(position); }
  std::string whyIndependent() const override { return feed_->whyIndependent(); }
  Status fill(const data::Position &position) override {
    model_.use(feed_->bucket(position));
    return feed_->fill(position);
  }

private:
  BucketedTrainable &model_;
  std::unique_ptr<data::BucketFeed> feed_;
};

} // namespace

Result<std::unique_ptr<BucketedTrainable>>
BucketedTrainable::create(const std::vector<Session *> &sessions) {
  std::unique_ptr<BucketedTrainable> all(new BucketedTrainable);
  all->sessions_ = sessions;
  for (Session *session : sessions) {
    LSTMC_ASSIGN(all->models_.emplace_back(), SessionTrainable::create(*session));
  }
  for (const auto &model : all->models_)
    if (model->heads().size() != all->heads().size())
      return fail(ErrorCode::E0605, "buckets: found {} metrics, want {} as in the longest",
                  model->heads().size(), all->heads().size());
  all->used_ = sessions.size() - 1; // where initial weights are
  return all;
}

Result<std::unique_ptr<data::Feed>> BucketedTrainable::trainingFeed(const data::DataSet &data,
                                                                    uint64_t seed, BatchRows rows) {
  std::vector<std::vector<data::InputSlot>> slots;
  for (const auto &model : models_) {
    LSTMC_ASSIGN(slots.emplace_back(), model->inputs(Entry::Step));
    take(rows, slots.back());
  }
  LSTMC_ASSIGN(std::unique_ptr<data::BucketFeed> feed, data.bucketFeed(slots, seed));
  return std::unique_ptr<data::Feed>(new ChoosingFeed(*this, std::move(feed)));
}

void BucketedTrainable::use(size_t bucket) {
  if (bucket == used_)
    return;
  sessions_[bucket]->continueFrom(*sessions_[used_]);
  used_ = bucket;
}

Result<std::vector<data::InputSlot>> BucketedTrainable::inputs(Entry entry) {
  return (entry == Entry::Step ? models_[used_] : models_.back())->inputs(entry);
}

std::optional<Trainable::StepPackage> BucketedTrainable::stepPackage() {
  const package::Bytes bytes = package::serialize(sessions_[used_]->package().data());
  return StepPackage{model().identity(),
                     {reinterpret_cast<const char *>(bytes.data()), bytes.size()}};
}

Status BucketedTrainable::evaluate() {
  use(models_.size() - 1);
  return model().evaluate();
}

} // namespace lstmc::training
