#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/ranges.h>

#include "executor/base/Commas.h"
#include "executor/c/CallerStruct.h"
#include "executor/c/FitHooks.h"
#include "executor/c/FitOptions.h"
#include "executor/c/Guard.h"
#include "executor/c/OwnMetrics.h"
#include "executor/c/TrainHandles.h"
#include "executor/session/NonFinite.h"
#include "executor/session/UnknownName.h"
#include "executor/session/WhyNotFinite.h"
#include "executor/training/Checkpoint.h"
#include "executor/training/Evaluate.h"
#include "executor/training/EventFile.h"

using namespace lstmc;

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// While it lives, the session's inputs are the trainer's.
struct Work {
  explicit Work(lstmc_trainer &trainer) : session(*trainer.session) { session.inTraining = true; }
  ~Work() { session.inTraining = false; }
  Work(const Work &) = delete;
  Work &operator=(const Work &) = delete;

  lstmc_session &session;
};

/// E0001 within a hook or a source of a training, and for a network that has no step.
Status checkIdle(const lstmc_trainer &trainer) {
  return trainer.session->inTraining
             ? fail(ErrorCode::E0001, "found a call of a trainer within a hook or a source of its "
                                      "training, want it after the training")
             : Status();
}

Status checkTrains(const lstmc_trainer &trainer) {
  LSTMC_TRY(checkIdle(trainer));
  if (!trainer.session->session->hasEntry("step"))
    return fail(ErrorCode::E0001, "the package or the session has no entry step: it was compiled, "
                                  "or opened, to run only");
  if (trainer.session->shares)
    return fail(ErrorCode::E0001, "a training would change weights that are shared");
  return {};
}

Status checkMeasures(const lstmc_trainer &trainer) {
  LSTMC_TRY(checkIdle(trainer));
  return trainer.model ? Status()
                       : fail(ErrorCode::E0001, "the package has no entry that measures a loss");
}

/// Whether nobody but the seed of a training decides over the weights.
bool isInitial(const lstmc_trainer &trainer) {
  const uint64_t changes = trainer.session->weightChanges;
  return changes == 0 || trainer.initialChanges == changes;
}

/// Values of optimizer and states from zero.
Status beginAnew(lstmc_trainer &trainer, uint64_t seed) {
  Session &session = *trainer.session->session;
  if (isInitial(trainer)) {
    LSTMC_TRY(session.initialise(seed));
    trainer.initialChanges = trainer.session->weightChanges;
    return {};
  }
  for (const StoredTensor &slot : trainer.model->slots())
    slot.clear();
  session.parametersChanged();
  session.resetStates();
  return {};
}

/// A session that nobody gave weights has those of the network's own seed before it is used.
Status haveWeights(lstmc_trainer &trainer) {
  if (trainer.session->weightChanges > 0)
    return {};
  LSTMC_TRY(trainer.session->session->initialise(trainer.fit.seed.value_or(0)));
  trainer.session->weightChanges = 1;
  trainer.initialChanges = 1;
  return {};
}

/// From now on the weights are more than initial values.
void keepWeights(lstmc_trainer &trainer) {
  ++trainer.session->weightChanges;
  trainer.initialChanges.reset();
}

lstmc_reason reasonOf(training::EndReason reason) {
  switch (reason) {
  case training::EndReason::EarlyStop:
    return LSTMC_EARLY_STOP;
  case training::EndReason::Signal:
    return LSTMC_SIGNALLED;
  case training::EndReason::Stopped:
    return LSTMC_STOPPED;
  default:
    return LSTMC_FINISHED;
  }
}

lstmc_end endOf(const training::EndEvent &event, double epochLoss) {
  lstmc_end end = {};
  end.size = sizeof end;
  end.reason = reasonOf(event.reason);
  end.signal = event.signal;
  end.update = event.progress.update;
  end.loss = event.loss.value_or(epochLoss);
  end.best_loss = event.bestLoss.value_or(kNone);
  end.best_update = event.bestUpdate;
  end.weights_hash = std::strtoull(event.weightsHash.c_str(), nullptr, 16);
  return end;
}

/// Tells several observers.
class Both : public training::TrainObserver {
public:
  Both(training::TrainObserver &first, std::unique_ptr<training::TrainObserver> second)
      : first_(first), second_(std::move(second)) {}
  void start(const training::StartEvent &event) override { each(&TrainObserver::start, event); }
  void tick(const training::UpdateEvent &event) override { each(&TrainObserver::tick, event); }
  void update(const training::UpdateEvent &event) override { each(&TrainObserver::update, event); }
  void valid(const training::ValidEvent &event) override { each(&TrainObserver::valid, event); }
  void save(const training::SaveEvent &event) override { each(&TrainObserver::save, event); }
  void warning(const Error &error) override { each(&TrainObserver::warning, error); }
  void end(const training::EndEvent &event) override { each(&TrainObserver::end, event); }

private:
  template <typename Event>
  void each(void (TrainObserver::*tell)(const Event &), const Event &event) {
    (first_.*tell)(event);
    if (second_)
      ((*second_).*tell)(event);
  }

  training::TrainObserver &first_;
  std::unique_ptr<training::TrainObserver> second_;
};

Result<std::unique_ptr<training::TrainObserver>> eventLog(const lstmc_fit_options &options,
                                                          c::HookObserver &hooks) {
  if (!options.tensorboard)
    return std::unique_ptr<training::TrainObserver>();
  LSTMC_ASSIGN(training::EventFile file, training::EventFile::create(options.tensorboard));
  return std::unique_ptr<training::TrainObserver>(new training::EventLog(
      std::move(file), [&hooks](const Error &error) { hooks.warning(error); }));
}

/// The weights of the best validation, which may be one of the run that this one went on from.
Status restoreBest(lstmc_trainer &trainer, c::HookObserver &hooks, const std::string &folder) {
  if (hooks.putBackBest() || folder.empty())
    return {};
  Result<training::Checkpoint> best = training::readCheckpoint(folder + "/best");
  return best.ok() ? training::restoreParameters(best->model, *trainer.model) : best.status();
}

/// Null where there are none.
Result<std::unique_ptr<c::OwnMetrics>> ownMetrics(lstmc_trainer &trainer,
                                                  const lstmc_own_metric *metrics, size_t count) {
  if (count == 0)
    return std::unique_ptr<c::OwnMetrics>();
  if (!metrics)
    return fail(ErrorCode::E0001, "own metrics: found a null pointer, want {} of them", count);
  return c::OwnMetrics::create(trainer, {metrics, count});
}

Status fit(lstmc_trainer &trainer, const lstmc_data &data, const lstmc_data *valid,
           const lstmc_fit_options *givenOptions, const lstmc_fit_hooks *givenHooks,
           lstmc_end *end) {
  LSTMC_ASSIGN(const lstmc_fit_options given, c::checkedOptions(givenOptions));
  LSTMC_ASSIGN(const lstmc_fit_hooks hooks, c::checkedHooks(givenHooks));
  LSTMC_TRY(checkTrains(trainer));
  LSTMC_TRY(checkMeasures(trainer));
  LSTMC_ASSIGN(training::TrainOptions options, c::trainOptions(trainer, given));
  const Work work(trainer);
  LSTMC_TRY(beginAnew(trainer, options.seed));
  LSTMC_TRY(training::prepareAll(*trainer.session->session));
  c::HookObserver observer(hooks, given.restore_best ? trainer.model.get() : nullptr);
  LSTMC_ASSIGN(auto log, eventLog(given, observer));
  Both observers(observer, std::move(log));
  LSTMC_ASSIGN(const auto own, ownMetrics(trainer, given.own_metrics, given.own_metric_count));
  options.own = own.get();
  options.stop = [&] { return observer.stops(); };
  options.interrupted = options.stop;
  training::CheckpointState reached;
  options.reached = &reached;
  keepWeights(trainer);
  Result<training::EndEvent> ended = training::train(
      *trainer.model, *data.data, valid ? valid->data.get() : nullptr, options, observers);
  trainer.state = std::move(reached);
  if (!ended.ok())
    return ended.status();
  if (given.restore_best && ended->bestUpdate > 0)
    LSTMC_TRY(restoreBest(trainer, observer, options.folder));
  if (end)
    c::give(endOf(*ended, observer.epochLoss()), end);
  return {};
}

/// Why measures of a batch are not finite, at the line of the source.
Error whyNotFinite(Session &session, int64_t batch) {
  Result<Diagnostic> why =
      session::whyNotFinite(session, "evaluate", fmt::format("in batch {}", batch + 1));
  return why.ok() ? session::asError(*why) : why.error();
}

Result<training::Evaluation> measure(lstmc_trainer &trainer, const data::DataSet &data,
                                     training::OwnMetrics *own) {
  LSTMC_ASSIGN(auto slots, trainer.model->inputs(training::Trainable::Entry::Evaluate));
  LSTMC_ASSIGN(auto feed, data.feed(training::validationPart(data), std::move(slots), 0));
  return training::evaluate(
      *trainer.model, *feed,
      [&](int64_t batch) { return whyNotFinite(*trainer.session->session, batch); }, {}, own);
}

/// Memory for what a source fills besides the inputs of `forward`.
Status findUnread(Session &session, c::UnreadInputs &unread) {
  unread.inputs.clear();
  LSTMC_ASSIGN(const std::vector<data::InputSlot> read, training::inputSlots(session, "forward"));
  for (const char *entry : {"step", "evaluate"}) {
    if (!session.hasEntry(entry))
      continue;
    LSTMC_ASSIGN(std::vector<data::InputSlot> slots, training::inputSlots(session, entry));
    for (data::InputSlot &slot : slots) {
      auto named = [&](const auto &other) { return other.name == slot.name; };
      auto known = [&](const auto &input) { return named(input.slot); };
      if (std::ranges::any_of(read, named) || std::ranges::any_of(unread.inputs, known))
        continue;
      const size_t bytes = size_t(slot.tensor.elements()) * dtypeBytes(slot.tensor.dtype);
      unread.inputs.push_back({std::move(slot), Bytes(bytes)});
    }
  }
  return {};
}

double lossOf(training::SessionTrainable &model) {
  training::MetricTotals measured(model.heads());
  for (size_t head = 0; head < model.heads().size(); ++head)
    measured.add(head, model.metric(training::Trainable::Entry::Step, head));
  return measured.value("loss").value_or(kNone);
}

/// What a checkpoint says of the weights as they are.
training::CheckpointState stateOf(const lstmc_trainer &trainer) {
  training::CheckpointState state = trainer.state;
  state.version = LSTMC_VERSION;
  state.identity = trainer.model->identity();
  state.optimizer = trainer.fit.optimizer;
  state.running.resize(trainer.model->heads().size());
  return state;
}

Status save(lstmc_trainer &trainer, const std::string &folder) {
  using training::CheckpointWriter;
  lstmc_fit_options where = {};
  where.output = folder.c_str();
  LSTMC_ASSIGN(training::TrainOptions options, c::trainOptions(trainer, where));
  CheckpointWriter::Options writing;
  writing.folder = folder;
  writing.existing = CheckpointWriter::Options::Existing::Replace;
  writing.attachments = std::move(options.attachments);
  LSTMC_ASSIGN(auto writer, CheckpointWriter::open(writing));
  writer->save(stateOf(trainer), *trainer.model, /*best=*/false);
  for (const Result<training::SavedCheckpoint> &saved : writer->finished(/*wait=*/true))
    LSTMC_TRY(saved.status());
  return {};
}

/// Where its weights are: after that update, and in no data.
void setPlace(lstmc_trainer &trainer, int64_t update) {
  trainer.state.update = update;
  trainer.state.source.clear();
  trainer.state.sourceDigest.clear();
  trainer.state.mark.clear();
}

} // namespace

extern "C" {

lstmc_status lstmc_trainer_create(lstmc_session *session, const lstmc_trainer_options *options,
                                  lstmc_trainer **trainer) {
  if (!session || !trainer)
    return c::nullArgument();
  *trainer = nullptr;
  return c::guarded([&]() -> Status {
    if (options && (options->size < sizeof *options || !c::restIsZero(*options)))
      return fail(ErrorCode::E0001, "trainer options: found size {}, of which lstmc {} knows {}",
                  options->size, LSTMC_VERSION, sizeof *options);
    auto made = std::make_unique<lstmc_trainer>();
    made->session = session;
    LSTMC_ASSIGN(made->fit, training::FitSettings::of(session->data().fit));
    if (session->session->hasEntry("step") || session->session->hasEntry("evaluate")) {
      LSTMC_ASSIGN(made->model, training::SessionTrainable::create(*session->session));
    }
    if (options && options->initial != 0)
      made->initialChanges = session->weightChanges;
    *trainer = made.release();
    return {};
  });
}

void lstmc_trainer_close(lstmc_trainer *trainer) { delete trainer; }

lstmc_status lstmc_trainer_fit(lstmc_trainer *trainer, const lstmc_data *data,
                               const lstmc_data *valid, const lstmc_fit_options *options,
                               const lstmc_fit_hooks *hooks, lstmc_end *end) {
  if (!trainer || !data)
    return c::nullArgument();
  return c::guarded([&] { return fit(*trainer, *data, valid, options, hooks, end); });
}

lstmc_status lstmc_trainer_score(lstmc_trainer *trainer, const lstmc_data *data,
                                 const char *metrics,
                                 void (*take)(void *user, const lstmc_metric *metric), void *user) {
  return lstmc_trainer_score_own(trainer, data, metrics, nullptr, 0, take, user);
}

lstmc_status lstmc_trainer_score_own(lstmc_trainer *trainer, const lstmc_data *data,
                                     const char *metrics, const lstmc_own_metric *own_metrics,
                                     size_t own_metric_count,
                                     void (*take)(void *user, const lstmc_metric *metric),
                                     void *user) {
  if (!trainer || !data || !take)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_TRY(checkMeasures(*trainer));
    if (!trainer->session->session->hasEntry("evaluate"))
      return fail(ErrorCode::E0001, "the package or the session has no entry evaluate");
    LSTMC_ASSIGN(const std::vector<std::string> asked, c::metricsNamed(*trainer, metrics));
    LSTMC_TRY(haveWeights(*trainer));
    const Work work(*trainer);
    LSTMC_ASSIGN(const auto own, ownMetrics(*trainer, own_metrics, own_metric_count));
    LSTMC_ASSIGN(const training::Evaluation measured, measure(*trainer, *data->data, own.get()));
    for (std::string_view name : training::metricsReported(asked))
      if (const std::optional<double> value = measured.totals.value(name)) {
        const std::string text(name);
        const lstmc_metric metric = {text.c_str(), *value};
        take(user, &metric);
      }
    if (own)
      for (const auto &[name, value] : own->values()) {
        const lstmc_metric metric = {name.c_str(), value};
        take(user, &metric);
      }
    return {};
  });
}

lstmc_status lstmc_trainer_predict(lstmc_trainer *trainer, const lstmc_data *data,
                                   lstmc_predictions **predictions) {
  if (!trainer || !data || !predictions)
    return c::nullArgument();
  *predictions = nullptr;
  return c::guarded([&]() -> Status {
    LSTMC_TRY(checkIdle(*trainer));
    Session &session = *trainer->session->session;
    if (!session.hasEntry("forward"))
      return fail(ErrorCode::E0001, "the package or the session has no entry forward");
    LSTMC_TRY(haveWeights(*trainer));
    const Work work(*trainer);
    if (data->unread)
      LSTMC_TRY(findUnread(session, *data->unread));
    LSTMC_ASSIGN(training::Prediction prediction,
                 training::preparePrediction(session, *data->data, session.package().data().net));
    LSTMC_ASSIGN(auto outputs, training::predictAll(session, prediction, [] { return true; }));
    *predictions = new lstmc_predictions{std::move(outputs)};
    return {};
  });
}

lstmc_status lstmc_predictions_output(const lstmc_predictions *predictions, const char *name,
                                      lstmc_tensor *tensor) {
  if (!predictions || !tensor)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    std::vector<std::string_view> names;
    for (const training::PredictedArray &output : predictions->outputs) {
      names.push_back(output.name);
      if (name && output.name != name && training::outputName(output.name) != name)
        continue;
      data::Array &array = const_cast<data::Array &>(output.array); // a view of it is no const one
      c::describe(array.tensor(), tensor);
      return {};
    }
    return session::unknownName("output", name, "the network", std::move(names));
  });
}

void lstmc_predictions_close(lstmc_predictions *predictions) { delete predictions; }

lstmc_status lstmc_trainer_update(lstmc_trainer *trainer, double learning_rate, double *loss) {
  if (!trainer)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_TRY(checkTrains(*trainer));
    LSTMC_TRY(checkMeasures(*trainer));
    if (!(learning_rate >= 0) || std::isinf(learning_rate))
      return fail(ErrorCode::E0001, "learning_rate: found {}, want a number from 0", learning_rate);
    LSTMC_TRY(haveWeights(*trainer));
    Session &session = *trainer->session->session;
    const training::FitSettings &fit = trainer->fit;
    const int64_t number = trainer->state.update + 1;
    session.setScalar("learning_rate", learning_rate > 0
                                           ? learning_rate
                                           : fit.schedule.rate(fit.baseRate(), number));
    session.setScalar("update", number);
    LSTMC_TRY(c::checkInputs(*trainer->session, "step", false));
    LSTMC_TRY(session.run("step"));
    keepWeights(*trainer);
    setPlace(*trainer, number);
    if (loss)
      *loss = lossOf(*trainer->model);
    return {};
  });
}

int64_t lstmc_trainer_updates(const lstmc_trainer *trainer) {
  return trainer ? trainer->state.update : 0;
}

lstmc_status lstmc_trainer_set_updates(lstmc_trainer *trainer, int64_t updates) {
  if (!trainer)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_TRY(checkTrains(*trainer));
    LSTMC_TRY(checkMeasures(*trainer));
    if (updates < 0)
      return fail(ErrorCode::E0001, "updates: found {}, want a number from 0", updates);
    keepWeights(*trainer);
    setPlace(*trainer, updates);
    return {};
  });
}

lstmc_status lstmc_trainer_save(lstmc_trainer *trainer, const char *folder) {
  if (!trainer || !folder)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_TRY(checkMeasures(*trainer));
    LSTMC_TRY(haveWeights(*trainer));
    return save(*trainer, folder);
  });
}

lstmc_status lstmc_trainer_load(lstmc_trainer *trainer, const char *folder) {
  if (!trainer || !folder)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_TRY(checkTrains(*trainer));
    LSTMC_TRY(checkMeasures(*trainer));
    LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(folder));
    LSTMC_TRY(training::restore(found.checkpoint, trainer->fit.optimizer, *trainer->model));
    trainer->state = std::move(found.checkpoint.state);
    keepWeights(*trainer);
    return {};
  });
}

lstmc_status lstmc_schedule_rate(const char *schedule, double base, int64_t update, double *rate) {
  if (!schedule || !rate)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    LSTMC_ASSIGN(const training::Schedule parsed, training::Schedule::parse(schedule));
    if (update < 1)
      return fail(ErrorCode::E0001, "update: found {}, want a number from 1", update);
    *rate = parsed.rate(base, update);
    return {};
  });
}
}
