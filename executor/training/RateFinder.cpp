#include "executor/training/RateFinder.h"

#include <algorithm>
#include <cmath>

#include "executor/training/Evaluate.h"

namespace lstmc::training {

/// Share of the mean so far that a new loss leaves.
static constexpr double kKept = 0.9;
/// The loss has diverged when it is so many times its least.
static constexpr double kDiverged = 4;

/// The rate of the steepest fall of `smooth` between two trials and the next but one, before the
/// least of all; the first ones, whose means are of few losses, are left out.
static std::optional<double> steepest(const std::vector<RateTrial> &trials) {
  auto least = std::ranges::min_element(trials, {}, &RateTrial::smooth);
  const auto end = size_t(least - trials.begin());
  std::optional<double> rate;
  double most = 0;
  for (size_t i = std::max<size_t>(trials.size() / 10, 1); i < end; ++i) {
    double fall = trials[i - 1].smooth - trials[i + 1].smooth;
    if (fall > most) {
      most = fall;
      rate = trials[i].rate;
    }
  }
  return rate;
}

Result<RateFindings> findRate(Trainable &model, const data::DataSet &data, uint64_t seed,
                              const RateSearch &search) {
  LSTMC_ASSIGN(std::unique_ptr<data::Feed> feed,
               model.trainingFeed(data, seed, Trainable::BatchRows::Wanted));
  LSTMC_TRY(checkCarried(model, *feed, data.spec().source));
  RateFindings found;
  data::Position position;
  double mean = 0, least = HUGE_VAL;
  for (int64_t update = 1; update <= search.updates && !found.diverged; ++update) {
    double grown = double(update - 1) / double(std::max<int64_t>(search.updates - 1, 1));
    double rate = search.lowest * std::pow(search.highest / search.lowest, grown);
    if (feed->restarts(position))
      resetStates(model);
    LSTMC_TRY(feed->fill(position));
    Status status = model.step({rate, update, seed});
    if (!status.ok() && status.error().code == ErrorCode::E0701) {
      found.diverged = true;
      break;
    }
    LSTMC_TRY(std::move(status));
    MetricTotals measured(model.heads());
    for (size_t head = 0; head < model.heads().size(); ++head)
      measured.add(head, model.metric(Trainable::Entry::Step, head));
    double loss = measured.loss();
    mean = kKept * mean + (1 - kKept) * loss;
    double smooth = mean / (1 - std::pow(kKept, double(update)));
    found.trials.push_back({rate, loss, smooth});
    least = std::min(least, smooth);
    found.diverged = !std::isfinite(loss) || smooth > kDiverged * least;
    if (++position.batch == feed->batches())
      position = {position.epoch + 1, 0};
  }
  if (!found.trials.empty())
    found.rate = steepest(found.trials);
  return found;
}

} // namespace lstmc::training
