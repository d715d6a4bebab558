#include "frontend/python/Training.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "executor/abi/Schedules.h"
#include "executor/session/Binding.h"
#include "executor/session/NonFinite.h"
#include "executor/session/WhyNotFinite.h"
#include "executor/training/BucketedTrainable.h"
#include "executor/training/EventFile.h"
#include "executor/training/Predict.h"
#include "executor/training/SessionTrainable.h"
#include "executor/training/Signals.h"
#include "executor/training/Trainer.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Emulated.h"
#include "frontend/cli/TrainObservers.h"
#include "frontend/driver/FitCheck.h"
#include "frontend/driver/InitParams.h"
#include "frontend/driver/TrainOptions.h"
#include "frontend/python/Data.h"
#include "frontend/python/Gil.h"
#include "frontend/python/Sessions.h"
#include "frontend/python/Signals.h"

namespace nb = nanobind;

namespace lstmc::python {

namespace {

/// Gives events to a callable of Python, as dicts. What it raises ends the training.
class CallingObserver : public training::TrainObserver {
public:
  explicit CallingObserver(nb::object callback) : callback_(std::move(callback)) {}

  void start(const training::StartEvent &event) override {
    call("start", event.progress, [&](nb::dict &values) {
      values["parameters"] = event.parameters;
      values["batch"] = event.batch;
      values["left_out"] = event.leftOut;
      values["resumed_from"] = event.resumedFrom;
    });
  }
  void tick(const training::UpdateEvent &event) override {
    call("update", event.progress, [&](nb::dict &values) {
      add(values, "loss", event.loss);
      add(values, "perplexity", event.perplexity);
      add(values, "gradient_norm", event.gradientNorm);
      values["learning_rate"] = event.learningRate;
      values["share"] = event.share;
      for (const auto &[name, value] : event.metrics)
        values[name.c_str()] = value;
      if (!event.gradientNorms.empty())
        values["gradient_norms"] = normsOf(event);
    });
  }
  void valid(const training::ValidEvent &event) override {
    call("valid", event.progress, [&](nb::dict &values) {
      add(values, "loss", event.loss);
      for (const auto &[name, value] : event.metrics)
        values[name.c_str()] = value;
      values["best"] = event.best;
    });
  }
  void save(const training::SaveEvent &event) override {
    call("save", event.progress, [&](nb::dict &values) {
      values["path"] = event.path;
      values["best"] = event.best;
    });
  }
  void warning(const Error &error) override {
    GilHeld held;
    Diagnostic diagnostic = asDiagnostic(error);
    diagnostic.severity = Severity::Warning;
    stayAtExit([&] { warn({diagnostic}); });
  }

private:
  /// By parameter, before clipping.
  static nb::dict normsOf(const training::UpdateEvent &event) {
    nb::dict norms;
    for (const training::NamedNorm &norm : event.gradientNorms)
      norms[norm.name.c_str()] = norm.value;
    return norms;
  }
  static void add(nb::dict &values, const char *name, std::optional<double> value) {
    values[name] = value ? nb::object(nb::float_(*value)) : nb::object(nb::none());
  }

  template <typename F> void call(const char *event, const training::Progress &progress, F fill) {
    if (callback_.is_none())
      return;
    GilHeld held;
    nb::dict values;
    values["event"] = event;
    values["update"] = progress.update;
    values["epoch"] = progress.epoch;
    fill(values);
    stayAtExit([&] { callback_(values); });
  }

  nb::object callback_;
};

void checkMetrics(const std::vector<std::string> &metrics, const Compiled &compiled) {
  for (const std::string &name : metrics)
    check(cli::checkMetric(name, compiled.model));
}

std::string packageText(const Compiled &compiled) {
  package::Bytes bytes = package::serialize(compiled.model.package->data());
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// The options of the loop, and what its checkpoints hold besides weights.
training::TrainOptions trainOptions(const Compiled &compiled, const cli::Options &options,
                                    const PythonData &data) {
  training::TrainOptions train = valueOf(cli::trainOptions(compiled.model, options));
  train.metrics = valueOf(cli::metricsAsked(options));
  if (train.metrics.empty() && !train.fit.metric.empty())
    train.metrics = splitCommas(train.fit.metric);
  checkMetrics(train.metrics, compiled);
  if (train.folder.empty())
    return train;
  train.attachments.push_back({"model.lstmc", packageText(compiled)});
  if (compiled.model.compiled && data.vocabulary && cli::isSource(compiled.model.path))
    if (std::optional<std::string> sample = withCompiler([&] {
          return cli::samplePackage(compiled.options.operands[0], compiled.options,
                                    compiled.request, compiled.model.package->data());
        }))
      train.attachments.push_back({"sample.lstmc", *sample});
  return train;
}

nb::dict asDict(const training::EndEvent &end) {
  nb::dict values;
  values["reason"] = std::string(training::endReasonName(end.reason));
  values["update"] = end.progress.update;
  values["epoch"] = end.progress.epoch;
  values["loss"] = end.loss ? nb::object(nb::float_(*end.loss)) : nb::object(nb::none());
  values["best_loss"] =
      end.bestLoss ? nb::object(nb::float_(*end.bestLoss)) : nb::object(nb::none());
  values["weights"] = end.weightsHash;
  values["checkpoint"] = end.lastCheckpoint;
  return values;
}

/// A training of a session, or of several in its memory.
Result<training::EndEvent> trainAll(Session &session, const std::vector<Session *> &buckets,
                                    const PythonData &data, const data::DataSet *validation,
                                    const training::TrainOptions &options,
                                    training::TrainObserver &observer) {
  if (buckets.empty() && data.data->spec().buckets.empty()) {
    LSTMC_ASSIGN(auto trainable, training::SessionTrainable::create(session));
    return training::train(*trainable, *data.data, validation, options, observer);
  }
  std::vector<Session *> all = buckets;
  all.push_back(&session);
  LSTMC_ASSIGN(auto trainable, training::BucketedTrainable::create(all));
  Result<training::EndEvent> end =
      training::train(*trainable, *data.data, validation, options, observer);
  trainable->use(buckets.size());
  return end;
}

/// A callback that begins a training within another one would change what the outer one trains, or
/// wait for itself: E0001. Another thread may train another session meanwhile.
void checkNoTraining() {
  if (inTraining())
    throw Failure(fail(ErrorCode::E0001,
                       "fit was called within a callback or an iterator of another fit, which has "
                       "not ended"));
}

struct OneTraining {
  OneTraining() {
    checkNoTraining();
    inTraining() = true;
  }
  ~OneTraining() { inTraining() = false; }
  OneTraining(const OneTraining &) = delete;
  OneTraining &operator=(const OneTraining &) = delete;
};

/// Those that are told: the callback, and --tensorboard's files.
Status addObservers(cli::Observers &observers, nb::object callback, const cli::Options &options) {
  auto &calling = observers.add<CallingObserver>(std::move(callback));
  if (options.tensorboard) {
    LSTMC_ASSIGN(training::EventFile file, training::EventFile::create(*options.tensorboard));
    observers.add<training::EventLog>(std::move(file),
                                      [&calling](const Error &error) { calling.warning(error); });
  }
  return {};
}

/// `buckets` are sessions beside `session`, for the batches that the data say are of them.
nb::dict fit(PythonSession &session, const Compiled &compiled, const GivenFields &given,
             const PythonData &data, const PythonData *valid, nb::object callback,
             const std::vector<const PythonSession *> &buckets) {
  const OneTraining one;
  cli::Options options = valueOf(optionsOf("train", given));
  training::TrainOptions train = trainOptions(compiled, options, data);
  train.interrupted = [] { return training::SignalWatch::pending() != 0; };
  cli::Observers observers(cli::onEmulated(compiled.model.package->data()));
  check(addObservers(observers, std::move(callback), options));
  const data::DataSet *validation = valid ? valid->data.get() : data.valid.get();
  Session &running = session.get();
  std::vector<Session *> others;
  for (const PythonSession *bucket : buckets)
    others.push_back(&bucket->get());
  int signal = 0;
  Result<training::EndEvent> end = [&]() -> Result<training::EndEvent> {
    GilReleased released;
    std::lock_guard lock(session.mutex());
    // Around that of the loop, so that what comes after its last look is seen too.
    training::Interrupts watch;
    LSTMC_TRY(training::prepareAll(running));
    Result<training::EndEvent> ended =
        trainAll(running, others, data, validation, train, observers);
    signal = watch.end();
    return ended;
  }();
  if (!end.ok())
    throw session.failureOf(end.error());
  raiseSignal(signal);
  return asDict(*end);
}

/// --init-params: how many parameters were found and wanted, and lines about the others.
nb::tuple initParams(PythonSession &session, const std::string &path, const GivenFields &given,
                     const PythonData &data) {
  cli::Options options = valueOf(optionsOf("train", given));
  Session &running = session.get();
  Result<cli::FoundParameters> found = [&] {
    GilReleased released;
    std::lock_guard lock(session.mutex());
    return cli::initParams(running, path, options, data.data->learned());
  }();
  cli::FoundParameters all = valueOf(std::move(found));
  return nb::make_tuple(all.found, all.wanted, all.others);
}

/// Returns the model's metrics that updates do not measure.
std::vector<std::string> validationsMeasure(const Compiled &compiled,
                                            const std::vector<std::string> &metrics) {
  std::vector<std::string> names;
  std::ranges::copy_if(metrics, std::back_inserter(names), [&](const std::string &name) {
    return !training::measuredByStep(name) && cli::checkMetric(name, compiled.model).ok();
  });
  return names;
}

nb::dict score(PythonSession &session, const Compiled &compiled,
               const std::vector<std::string> &metrics, const PythonData &data, bool mainThread) {
  checkMetrics(metrics, compiled);
  Session &running = session.get();
  std::optional<Diagnostic> fault;
  auto explain = [&](int64_t batch) -> Error {
    Result<Diagnostic> why =
        session::whyNotFinite(running, "evaluate", fmt::format("in batch {}", batch + 1));
    if (!why.ok())
      return why.error();
    fault = *why;
    return session::asError(*fault);
  };
  int signal = 0;
  Result<training::Evaluation> evaluation = [&]() -> Result<training::Evaluation> {
    GilReleased released;
    std::lock_guard lock(session.mutex());
    Interruptible interruptible(mainThread);
    LSTMC_ASSIGN(auto trainable, training::SessionTrainable::create(running));
    LSTMC_ASSIGN(auto slots, trainable->inputs(training::Trainable::Entry::Evaluate));
    LSTMC_ASSIGN(auto feed, data.data->feed(training::validationPart(*data.data), slots, 0));
    Result<training::Evaluation> measured =
        training::evaluate(*trainable, *feed, explain, [&] { return interruptible.came(); });
    signal = interruptible.end();
    return measured;
  }();
  raiseSignal(signal);
  if (fault)
    throw Failure(Diagnostics{*fault});
  if (!evaluation.ok())
    throw session.failureOf(evaluation.error());
  nb::dict values;
  for (std::string_view name : training::metricsReported(metrics))
    if (std::optional<double> value = evaluation->totals.value(name))
      values[std::string(name).c_str()] = *value;
  values["labels"] = evaluation->totals.labels();
  return values;
}

/// Predictions of one output, whose rows stand one after the other along the axis of the batch.
struct Rows {
  const training::PredictedRows *of;
  std::unique_ptr<data::Array> array;

  Rows(const training::PredictedRows &output, int64_t samples)
      : of(&output), array(std::make_unique<data::Array>()) {
    array->dtype = output.tensor.dtype;
    const std::span<const int64_t> shape = data::shapeOf(output.tensor);
    array->shape.assign(shape.begin(), shape.end());
    array->shape[size_t(output.batchAxis)] = samples;
    array->bytes.resize(data::arrayBytes(array->shape, array->dtype).value().value());
  }

  void take(int64_t first, int64_t rows) {
    const auto axis = size_t(of->batchAxis);
    Tensor from = of->tensor, to = array->tensor();
    from.shape[axis] = to.shape[axis] = rows;
    to.data = to.as<uint8_t>() + size_t(first * to.strides[axis]) * dtypeBytes(to.dtype);
    session::copyTensor(from, to);
  }

  nb::object view() && {
    Tensor whole = array->tensor();
    return viewOf(whole, nb::capsule(array.release(), [](void *given) noexcept {
                    delete static_cast<data::Array *>(given);
                  }));
  }
};

/// {output: the predictions for all samples}
nb::dict predict(PythonSession &session, const Compiled &compiled, const PythonData &data,
                 bool mainThread) {
  std::optional<training::Prediction> prediction;
  std::vector<Rows> outputs;
  auto take = [&](int64_t first, int64_t rows) {
    for (Rows &output : outputs)
      output.take(first, rows);
    return Status();
  };
  session.perform(mainThread, [&](Session &running, const Interruptible &signals) -> Status {
    LSTMC_ASSIGN(prediction, training::preparePrediction(running, *data.data, compiled.model.path));
    for (const training::PredictedRows &output : prediction->outputs)
      outputs.emplace_back(output, prediction->samples.count);
    Status status = training::predict(running, *prediction, take, [&] { return !signals.came(); });
    return prediction->fault ? Status() : status;
  });
  if (prediction->fault)
    throw Failure(Diagnostics{*prediction->fault});
  Diagnostics warnings;
  auto add = [&](const std::string &message) {
    warnings.push_back(asDiagnostic(fail(ErrorCode::E0610, "{}", message)));
    warnings.back().severity = Severity::Warning;
  };
  for (const std::string &output : prediction->leftOut)
    add("left out " + output);
  if (prediction->mixesRows)
    add("the network mixes the samples of a batch: predictions depend on its size");
  warn(warnings);
  nb::dict values;
  for (Rows &output : outputs)
    values[output.of->output->name.c_str()] = std::move(output).view();
  return values;
}

/// Updates one by one, for who fills the inputs of `step` before each. Rates are those of fit; a
/// schedule that waits for validations stays at its first rate.
class Updates {
public:
  Updates(PythonSession &session, const Compiled &compiled) : session_(session) {
    training::TrainOptions options =
        valueOf(cli::trainOptions(compiled.model, valueOf(optionsOf("train", {}))));
    fit_ = options.fit;
    seed_ = options.seed;
    auto made = [&]() -> Result<std::unique_ptr<training::SessionTrainable>> {
      GilReleased released;
      std::lock_guard lock(session.mutex());
      LSTMC_TRY(training::prepareAll(session.get()));
      return training::SessionTrainable::create(session.get());
    }();
    trainable_ = valueOf(std::move(made));
  }

  /// The next update. KeyboardInterrupt after ctrl-C, from the main thread.
  void run(bool mainThread) {
    session_.perform(mainThread, [&](Session &, const Interruptible &) -> Status {
      const int64_t number = number_ + 1;
      LSTMC_TRY(trainable_->step({fit_.schedule.rate(fit_.baseRate(), number), number, seed_}));
      number_ = number;
      return {};
    });
  }

private:
  PythonSession &session_;
  training::FitSettings fit_;
  uint64_t seed_ = 0;
  int64_t number_ = 0; ///< of the last update
  std::unique_ptr<training::SessionTrainable> trainable_;
};

/// The rate of update `number`, from 1, by a schedule in the form of the key lr_scheduler.
double scheduledRate(const std::string &schedule, double base, int64_t number) {
  const training::Schedule parsed = valueOf(training::Schedule::parse(schedule));
  if (parsed.kind == ScheduleKind::Plateau)
    throw Failure(fail(ErrorCode::E0001, "the schedule plateau waits for validations of fit(..), "
                                         "which a loop of one's own does not have"));
  return parsed.rate(base, number);
}

/// The rate of an optimizer that is given none. E0001 for one that there is not.
double defaultRate(const std::string &optimizer) {
  training::FitSettings fit;
  (void)valueOf(fit.set("optimizer", optimizer));
  return fit.baseRate();
}

} // namespace

void addTraining(nb::module_ &module) {
  nb::class_<Updates>(module, "Updates")
      .def(nb::init<PythonSession &, const Compiled &>(), nb::arg("session"), nb::arg("compiled"),
           nb::keep_alive<1, 2>())
      .def("run", &Updates::run, nb::arg("main_thread"));
  module.def("default_rate", &defaultRate, nb::arg("optimizer"));
  module.def("scheduled_rate", &scheduledRate, nb::arg("schedule"), nb::arg("base"),
             nb::arg("number"));
  module.def("fit", &fit, nb::arg("session"), nb::arg("compiled"), nb::arg("given"),
             nb::arg("data"), nb::arg("valid").none(), nb::arg("callback").none(),
             nb::arg("buckets"));
  module.def("predict", &predict, nb::arg("session"), nb::arg("compiled"), nb::arg("data"),
             nb::arg("main_thread"));
  module.def("check_no_training", &checkNoTraining);
  module.def("init_params", &initParams, nb::arg("session"), nb::arg("path"), nb::arg("given"),
             nb::arg("data"));
  module.def("validations_measure", &validationsMeasure, nb::arg("compiled"), nb::arg("metrics"));
  module.def("score", &score, nb::arg("session"), nb::arg("compiled"), nb::arg("metrics"),
             nb::arg("data"), nb::arg("main_thread"));
}

} // namespace lstmc::python
