#include "executor/c/FitHooks.h"

#include <cmath>
#include <limits>

#include "executor/c/CallerStruct.h"

namespace lstmc::c {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::vector<lstmc_metric> metricsOf(const std::vector<std::pair<std::string, double>> &metrics) {
  std::vector<lstmc_metric> list;
  for (const auto &[name, value] : metrics)
    list.push_back({name.c_str(), value});
  return list;
}

} // namespace

Result<lstmc_fit_hooks> checkedHooks(const lstmc_fit_hooks *given) {
  if (!given)
    return lstmc_fit_hooks{};
  if (given->size < sizeof *given || !restIsZero(*given))
    return fail(ErrorCode::E0001, "hooks: found size {}, of which lstmc {} knows {}", given->size,
                LSTMC_VERSION, sizeof *given);
  return taken(*given);
}

bool HookObserver::stops() {
  stops_ = stops_ || (hooks_.stop && hooks_.stop(hooks_.user) != 0);
  return stops_;
}

void HookObserver::tick(const training::UpdateEvent &event) {
  const training::MetricTotals &measured = *event.measured;
  if (!epoch_)
    epoch_.emplace(measured.heads());
  for (size_t head = 0; head < measured.heads().size(); ++head)
    epoch_->add(head, measured.sums()[head]);
  epochLoss_ = epoch_->value("loss").value_or(kNone);
  if (hooks_.update) {
    lstmc_update_event told = {};
    told.size = sizeof told;
    told.update = event.progress.update;
    told.epoch = event.progress.epoch;
    told.loss = measured.value("loss").value_or(kNone);
    told.learning_rate = event.learningRate;
    told.labels_per_second = event.labelsPerSecond.value_or(kNone);
    told.gradient_norm = event.gradientNorm.value_or(kNone);
    stops_ |= hooks_.update(hooks_.user, &told) != 0;
  }
  const double before = std::floor(progress_.epoch), now = std::floor(event.progress.epoch);
  progress_ = event.progress;
  if (now == before)
    return;
  epoch_.reset();
  if (hooks_.epoch) {
    const lstmc_epoch_event told = {sizeof told, int64_t(now), event.progress.update, epochLoss_};
    stops_ |= hooks_.epoch(hooks_.user, &told) != 0;
  }
}

void HookObserver::update(const training::UpdateEvent &event) {
  if (!hooks_.line)
    return;
  const std::vector<lstmc_metric> metrics = metricsOf(event.metrics);
  lstmc_line_event told = {};
  told.size = sizeof told;
  told.update = event.progress.update;
  told.epoch = event.progress.epoch;
  told.loss = event.loss.value_or(kNone);
  told.learning_rate = event.learningRate;
  told.labels_per_second = event.labelsPerSecond.value_or(kNone);
  told.seconds_left = event.secondsLeft;
  told.metrics = metrics.data();
  told.metric_count = metrics.size();
  stops_ |= hooks_.line(hooks_.user, &told) != 0;
}

void HookObserver::valid(const training::ValidEvent &event) {
  if (event.best && model_)
    keepBest();
  if (!hooks_.validation)
    return;
  const std::vector<lstmc_metric> metrics = metricsOf(event.metrics);
  lstmc_validation_event told = {};
  told.size = sizeof told;
  told.update = event.progress.update;
  told.loss = event.loss.value_or(kNone);
  told.best = event.best;
  told.metrics = metrics.data();
  told.metric_count = metrics.size();
  stops_ |= hooks_.validation(hooks_.user, &told) != 0;
}

void HookObserver::save(const training::SaveEvent &event) {
  if (!hooks_.save)
    return;
  const lstmc_save_event told = {sizeof told, event.progress.update, event.path.c_str(),
                                 event.best};
  stops_ |= hooks_.save(hooks_.user, &told) != 0;
}

void HookObserver::warning(const Error &error) {
  if (hooks_.warning)
    hooks_.warning(hooks_.user, ("warning: " + error.text()).c_str());
}

void HookObserver::keepBest() {
  best_.clear();
  for (const StoredTensor &parameter : model_->parameters())
    parameter.read(best_.emplace_back(size_t(parameter.bytes())));
}

bool HookObserver::putBackBest() {
  if (best_.empty())
    return false;
  const std::vector<StoredTensor> parameters = model_->parameters();
  for (size_t i = 0; i < parameters.size(); ++i)
    parameters[i].write(best_[i]);
  model_->parametersChanged();
  return true;
}

} // namespace lstmc::c
