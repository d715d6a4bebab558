#include "executor/training/Trainer.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "executor/abi/Schedules.h"
#include "executor/base/Quote.h"
#include "executor/base/SafeSize.h"
#include "executor/data/FillAhead.h"
#include "executor/training/Checkpoint.h"
#include "executor/training/FailedUpdate.h"
#include "executor/training/Signals.h"

namespace lstmc::training {

std::string_view endReasonName(EndReason reason) {
  constexpr std::string_view kNames[] = {"done", "signal", "early-stop", "error", "stopped"};
  return kNames[size_t(reason)];
}

data::Part validationPart(const data::DataSet &data) {
  return data.spec().valid > 0 ? data::Part::Valid : data::Part::All;
}

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// One run. Fields are what the checkpoint's manifest keeps, and what this process made around it.
class Run {
public:
  Run(Trainable &model, const TrainOptions &options, TrainObserver &observer)
      : model_(model), options_(options), observer_(observer), running_(model.heads()) {}

  Result<EndEvent> go(const data::DataSet &data, const data::DataSet *valid) {
    LSTMC_TRY(prepare(data, valid));
    observer_.start(startEvent());
    std::optional<SignalWatch> watch;
    if (options_.signals)
      watch.emplace();
    Status status;
    EndReason reason = EndReason::Done;
    while (status.ok() && !over(reason))
      status = update();
    if (givenUp(status)) {
      reason = EndReason::Signal;
      observer_.warning(status.error());
      status = {};
    }
    if (status.ok())
      status = finish(reason);
    reportSaves(true);
    if (status.ok() && lastSave_)
      status = *lastSave_;
    return end(status, reason);
  }

private:
  int signal() const { return options_.signals ? model_.signal() : 0; }

  /// Whether this was the last update, and why.
  bool over(EndReason &reason) const {
    bool early = options_.earlyStop > 0 && state_.worseValidations >= options_.earlyStop;
    reason = signal() != 0                      ? EndReason::Signal
             : options_.stop && options_.stop() ? EndReason::Stopped
             : early                            ? EndReason::EarlyStop
                                                : EndReason::Done;
    return reason != EndReason::Done || options_.after.reached(progress_);
  }

  /// An update that did not end in time for a signal, with nothing changed that a checkpoint holds.
  bool givenUp(const Status &status) const {
    return !status.ok() && status.error().code == ErrorCode::E0802 && signal() != 0 &&
           !model_.failedAfterCommit();
  }

  Status prepare(const data::DataSet &data, const data::DataSet *valid) {
    data_ = &data;
    LSTMC_ASSIGN(feed_, model_.trainingFeed(data, options_.seed, Trainable::BatchRows::Wanted));
    state_.epochBatches = feed_->batches();
    inputs_.emplace(*feed_);
    LSTMC_TRY(checkCarried(model_, *feed_, data.spec().source));
    if (const std::string remark = feed_->carriedRemark();
        !remark.empty() && !model_.states().empty())
      observer_.warning(fail(ErrorCode::E0001, "carry: {}", remark));
    if (valid && data.spec().valid > 0)
      return fail(ErrorCode::E0001,
                  "data {}: a share of them is kept to validate on, and other data validate: give "
                  "one of them",
                  inQuotes(data.spec().source));
    if (valid)
      LSTMC_TRY(checkAlike(data, *valid));
    if (valid || data.spec().valid > 0) {
      const data::DataSet &from = valid ? *valid : data;
      LSTMC_ASSIGN(std::vector<data::InputSlot> slots, model_.inputs(Trainable::Entry::Evaluate));
      LSTMC_ASSIGN(validFeed_, from.feed(validationPart(from), std::move(slots), 0));
    }
    if (options_.fit.schedule.kind == ScheduleKind::Plateau) {
      if (!validFeed_)
        return fail(ErrorCode::E0001, "lr_scheduler plateau follows the loss of validations, and "
                                      "there are no data to validate on");
      state_.plateau = PlateauState();
    }
    if (options_.judge != "loss")
      state_.judge = options_.judge;
    if (!options_.folder.empty() && !feed_->goesOn())
      observer_.warning(fail(ErrorCode::E0610,
                             "data {}: a source without mark and seek, so no training goes on from "
                             "these checkpoints",
                             data.spec().source));
    LSTMC_TRY(model_.agree("sha256 of the training data", data.digest()));
    if (valid)
      LSTMC_TRY(model_.agree("sha256 of the validation data", valid->digest()));
    state_.version = options_.version;
    state_.identity = model_.identity();
    state_.optimizer = options_.fit.optimizer;
    state_.source = data.spec().source;
    state_.sourceDigest = data.digest();
    data::Learned learned = data.learned();
    state_.scaling = learned.scaling;
    state_.unit = learned.unit;
    state_.seed = options_.seed;
    // The folder is ours before anything in it is read: another run may be writing there.
    std::error_code unknown; // of a name that is too long, say: opening it says why
    bool nothingThere =
        options_.resume && !std::filesystem::exists(options_.folder, unknown) && !unknown;
    if (!options_.folder.empty() && !nothingThere && model_.writes())
      LSTMC_TRY(openFolder());
    if (options_.resume)
      LSTMC_TRY(resume());
    begin_ = lineBegin_ = Clock::now();
    lineLabels_ = state_.labels;
    lineSamples_ = state_.samples;
    startShare_ = options_.after.share(progress_);
    return {};
  }

  /// Validation data have to be read as those of the training.
  static Status checkAlike(const data::DataSet &data, const data::DataSet &valid) {
    const std::string why = whyUnlike(data.learned(), valid.learned());
    return why.empty() ? Status()
                       : fail(ErrorCode::E0610,
                              "validation data {}: read by another vocabulary or scaling than "
                              "those of the training: {}",
                              inQuotes(valid.spec().source), why);
  }

  Status openFolder() {
    using Existing = CheckpointWriter::Options::Existing;
    CheckpointWriter::Options writer;
    writer.folder = options_.folder;
    writer.keep = options_.keep;
    writer.keepEvery = options_.keepEvery;
    writer.existing = options_.resume      ? Existing::GoOn
                      : options_.overwrite ? Existing::Replace
                                           : Existing::Refuse;
    writer.attachments = options_.attachments;
    if (std::optional<data::Vocabulary> vocabulary = data_->learned().vocabulary)
      writer.attachments.emplace_back(kVocabularyFile, vocabulary->text());
    writer.fault = options_.fault;
    LSTMC_ASSIGN(writer_, CheckpointWriter::open(writer));
    if (writer_->unlocked())
      observer_.warning(*writer_->unlocked());
    return {};
  }

  Status resume() {
    LSTMC_ASSIGN(FoundCheckpoint found, findCheckpoint(options_.folder, options_.limits));
    for (const Error &error : found.passedOver)
      observer_.warning(error);
    const CheckpointState &old = found.checkpoint.state;
    Place place{found.checkpoint.folder};
    if (isFailedUpdate(found.checkpoint))
      return failAt(place, ErrorCode::E0610,
                    "found an update that failed, want a checkpoint or a folder of them");
    if (old.sourceDigest != state_.sourceDigest)
      return failAt(place, ErrorCode::E0610, "data: found sha256 {} of {}, want that of {}: {}",
                    old.sourceDigest, old.source, state_.source, state_.sourceDigest);
    if (old.seed != state_.seed)
      return failAt(place, ErrorCode::E0610, "seed: found {}, want {}", old.seed, state_.seed);
    if (old.position.batch >= feed_->batches())
      return failAt(place, ErrorCode::E0604,
                    "progress.batch: found {}, want below the {} of an epoch", old.position.batch,
                    feed_->batches());
    LSTMC_TRY(restore(found.checkpoint, options_.fit.optimizer, model_));
    if (const Identity mine = model_.identity(); hasOtherDigests(found.checkpoint, mine))
      observer_.warning(
          failAt(place, ErrorCode::E0610,
                 "written by {}, whose digest of a network is another than that of {}: names, "
                 "types and shapes of weights are equal, the rest was not compared",
                 old.version, mine.producer));
    LSTMC_TRY(
        model_.agree("checkpoint", fmt::format("update {} of seed {}", old.update, old.seed)));
    SafeSize updates = SafeSize(uint64_t(old.position.epoch)) * uint64_t(feed_->batches()) +
                       uint64_t(old.position.batch);
    if (updates.value() != uint64_t(old.update) ||
        (old.epochBatches > 0 && old.epochBatches != feed_->batches()))
      return failAt(
          place, ErrorCode::E0604,
          "progress.update: found {}, want {} epochs of {} batches and {} more: its epochs "
          "had {}, as with another batch or another share for validation",
          old.update, old.position.epoch, feed_->batches(), old.position.batch,
          old.epochBatches > 0 ? std::to_string(old.epochBatches) : "more or fewer");
    CheckpointState fresh = std::move(state_);
    state_ = old;
    state_.version = fresh.version;
    state_.epochBatches = fresh.epochBatches;
    state_.identity = fresh.identity;
    state_.source = fresh.source;
    state_.unit = fresh.unit;
    if (!fresh.plateau || !state_.plateau)
      state_.plateau = fresh.plateau;  // of a run with another schedule
    if (state_.judge != fresh.judge) { // what was the best is not known
      state_.judge = fresh.judge;
      state_.bestLoss.reset();
      state_.bestValue.reset();
      state_.worseValidations = 0;
    }
    running_.sums() = old.running;
    LSTMC_TRY(feed_->goTo(old.position, old.mark));
    resumedFrom_ = found.checkpoint.folder;
    lastCheckpoint_ = found.checkpoint.folder;
    savedUpdate_ = old.update;
    validatedUpdate_ = old.validLoss ? old.update : -1;
    lastLoss_ = old.validLoss;
    progress_ = progressNow(old.seconds);
    return {};
  }

  StartEvent startEvent() const {
    StartEvent event{progress_,
                     options_.seed,
                     state_.identity.net,
                     state_.identity.graphHash,
                     0,
                     feed_->sequences(),
                     state_.identity.shards,
                     state_.identity.numerics,
                     resumedFrom_,
                     feed_->leftOut(),
                     validFeed_ ? leftOutOf(model_, *validFeed_) : ""};
    for (const StoredTensor &parameter : model_.parameters())
      event.parameters += parameter.tensor.elements();
    return event;
  }

  Progress progressNow(double seconds) const {
    double part = double(state_.position.batch) / double(feed_->batches());
    return {state_.update, double(state_.position.epoch) + part, state_.labels, seconds};
  }

  /// One update and what is due after it.
  Status update() {
    if (feed_->restarts(state_.position))
      resetStates(model_);
    LSTMC_TRY(fillInputs());
    int64_t number = state_.update + 1;
    const Trainable::StepScalars scalars{rateOf(number), number, options_.seed};
    if (Status status = model_.step(scalars, fillNext_); !status.ok()) {
      if (status.error().code == ErrorCode::E0701)
        keepFailed(scalars);
      return status;
    }
    if (options_.checkReplicas > 0 && number % options_.checkReplicas == 0)
      LSTMC_TRY(model_.compareReplicas());

    MetricTotals measured(model_.heads());
    for (size_t head = 0; head < model_.heads().size(); ++head) {
      measured.add(head, model_.metric(Trainable::Entry::Step, head));
      running_.add(head, measured.sums()[head]);
    }
    state_.update = number;
    state_.labels += int64_t(measured.labels());
    state_.samples += feed_->sequences();
    ++state_.runningUpdates;
    state_.position = positionAfter(state_.position);
    state_.validLoss.reset();

    Progress before = progress_;
    double seconds = state_.seconds + secondsSince(begin_);
    if (countsSeconds()) {
      LSTMC_ASSIGN(seconds, model_.sameSeconds(seconds));
    }
    progress_ = progressNow(seconds);
    UpdateEvent event = updateEvent();
    event.measured = &measured;
    observer_.tick(event);
    if (options_.dispEvery.passed(before, progress_))
      line(event);
    bool best = false;
    if (validFeed_ && options_.validEvery.passed(before, progress_))
      LSTMC_TRY(validateWhenDue(best));
    if (best || options_.saveEvery.passed(before, progress_))
      LSTMC_TRY(save(best));
    reportSaves(false);
    return {};
  }

  data::Position positionAfter(data::Position position) const {
    if (++position.batch == feed_->batches())
      position = {position.epoch + 1, 0};
    return position;
  }

  /// Unless the update before has done so.
  Status fillInputs() {
    const Clock::time_point waits = Clock::now();
    Status status = inputs_->fill(state_.position);
    inputSeconds_ += secondsSince(waits);
    return status;
  }

  /// Whether time decides over what is done when.
  bool countsSeconds() const {
    return std::ranges::any_of(
        std::array{options_.after, options_.validEvery, options_.saveEvery, options_.dispEvery},
        [](const Amount &amount) { return amount.unit == Amount::Unit::Seconds; });
  }

  /// The schedule's.
  double rateOf(int64_t update) const {
    double plateau = state_.plateau ? state_.plateau->scale : 1;
    return options_.fit.schedule.rate(options_.fit.baseRate(), update, plateau);
  }

  UpdateEvent updateEvent() const {
    UpdateEvent event;
    event.progress = progress_;
    event.loss = running_.value("loss");
    event.perplexity = running_.value("perplexity");
    for (const std::string &name : options_.metrics)
      if (std::optional<double> value = measuredByStep(name) ? running_.value(name) : std::nullopt)
        event.metrics.emplace_back(name, *value);
    event.gradientNorm = model_.gradientNorm();
    event.gradientNorms = model_.gradientNorms();
    event.learningRate = rateOf(state_.update);
    event.lossScale = state_.lossScale;
    event.labels = int64_t(running_.labels());
    double seconds = secondsSince(lineBegin_);
    event.inputSeconds = inputSeconds_;
    if (seconds > 0) {
      event.inputShare = std::min(1.0, inputSeconds_ / seconds);
      event.labelsPerSecond = double(state_.labels - lineLabels_) / seconds;
      event.samplesPerSecond = double(state_.samples - lineSamples_) / seconds;
    }
    event.share = std::min(1.0, options_.after.share(progress_));
    if (event.share > startShare_)
      event.secondsLeft = secondsSince(begin_) * (1 - event.share) / (event.share - startShare_);
    return event;
  }

  void line(const UpdateEvent &event) {
    observer_.update(event);
    running_.clear();
    state_.runningUpdates = 0;
    lineBegin_ = Clock::now();
    inputSeconds_ = 0;
    lineLabels_ = state_.labels;
    lineSamples_ = state_.samples;
  }

  /// `interrupted`: as evaluate() asks; nothing is kept of one that ended early.
  Status validate(bool &best, const std::function<bool()> &interrupted = {}) {
    inputs_->forget(); // step and evaluate may have inputs in one place
    LSTMC_ASSIGN(Evaluation result, evaluate(model_, *validFeed_, {}, interrupted, options_.own));
    if (result.interrupted)
      return {};
    ValidEvent event;
    event.progress = progress_;
    event.loss = result.totals.value("loss");
    event.perplexity = result.totals.value("perplexity");
    for (std::string_view name : validMetrics())
      if (std::optional<double> value = result.totals.value(name))
        event.metrics.emplace_back(name, *value);
    if (options_.own)
      for (auto &each : options_.own->values())
        event.metrics.push_back(std::move(each));
    judge(event, result.totals, best);
    state_.worseValidations = best ? 0 : state_.worseValidations + 1;
    state_.validLoss = lastLoss_ = event.loss;
    validatedUpdate_ = state_.update;
    event.best = best;
    observer_.valid(event);
    // What a validation costs is no part of the labels per second.
    lineBegin_ +=
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(result.seconds));
    return {};
  }

  /// Whether it is better than all before, by the metric that judges. NaN never is.
  void judge(const ValidEvent &event, const MetricTotals &totals, bool &best) {
    std::optional<double> value = totals.value(options_.judge);
    for (const auto &[name, own] : event.metrics)
      if (name == options_.judge)
        value = own;
    const bool byLoss = options_.judge == "loss";
    std::optional<double> &before = byLoss ? state_.bestLoss : state_.bestValue;
    const double sign = options_.largerIsBetter ? -1 : 1, worst = HUGE_VAL;
    const double found = value ? sign * *value : worst, held = before ? sign * *before : worst;
    best = found < (before ? held - options_.minDelta : held);
    if (!best)
      return;
    before = value;
    state_.bestUpdate = state_.update;
    if (!byLoss)
      state_.bestLoss = event.loss;
  }

  /// The end validates once more than is due, which moves no rate: a run that goes on from there
  /// does as one that was never stopped.
  Status validateWhenDue(bool &best) {
    LSTMC_TRY(validate(best));
    if (state_.plateau)
      state_.plateau->see(options_.fit.schedule, lastLoss_.value_or(HUGE_VAL));
    return {};
  }

  /// Those that are shown, and what is asked for beside them.
  std::vector<std::string_view> validMetrics() const {
    std::vector<std::string_view> names = shownMetrics();
    for (const std::string &name : options_.metrics)
      if (std::ranges::find(names, name) == names.end())
        names.push_back(name);
    return names;
  }

  CheckpointState stateNow() const {
    CheckpointState state = state_;
    state.seconds = progress_.seconds;
    state.running = running_.sums();
    return state;
  }

  CheckpointState stateReached() const {
    CheckpointState state = stateNow();
    if (Result<std::string> mark = feed_->mark(state.position); mark.ok())
      state.mark = *std::move(mark);
    return state;
  }

  /// Saves the failed update for replay; failing to save it is only a warning.
  void keepFailed(const Trainable::StepScalars &scalars) {
    if (options_.folder.empty() || model_.failedAfterCommit())
      return;
    if (Status status = model_.collect(); !status.ok())
      return observer_.warning(status.error());
    if (!writer_)
      return;
    reportSaves(true);
    if (Status status = fillAllRows(); !status.ok())
      return observer_.warning(status.error());
    Result<Bytes> update = packUpdate(model_, scalars);
    if (!update.ok())
      return observer_.warning(update.error());
    CheckpointState state = stateNow();
    std::optional<Trainable::StepPackage> package = model_.stepPackage();
    if (package)
      state.identity = package->identity;
    writer_->saveFailed(state, model_,
                        {std::move(*update), package ? std::move(package->bytes) : ""});
    for (const Result<SavedCheckpoint> &result : writer_->finished(true)) {
      if (result.ok())
        failedUpdate_ = result->path;
      else
        observer_.warning(result.error());
    }
  }

  /// The batch of this update, with the rows that other processes have read.
  Status fillAllRows() {
    LSTMC_ASSIGN(const std::vector<data::InputSlot> slots, model_.inputs(Trainable::Entry::Step));
    if (std::ranges::all_of(slots, [](const auto &slot) { return slot.rows == RowWindow(); }))
      return {};
    LSTMC_ASSIGN(const std::unique_ptr<data::Feed> feed,
                 model_.trainingFeed(*data_, options_.seed, Trainable::BatchRows::All));
    return feed->fill(state_.position);
  }

  Status save(bool best) {
    if (options_.folder.empty())
      return {};
    LSTMC_TRY(model_.collect());
    savedUpdate_ = state_.update;
    LSTMC_ASSIGN(state_.mark, feed_->mark(state_.position));
    if (writer_) {
      writer_->save(stateNow(), model_, best);
      saving_.push_back(progress_);
    }
    return {};
  }

  void reportSaves(bool wait) {
    if (!writer_)
      return;
    for (const Result<SavedCheckpoint> &result : writer_->finished(wait)) {
      if (!result.ok()) {
        observer_.warning(result.error());
        lastSave_ = result.status();
        continue;
      }
      SaveEvent event{progress_, result->path, result->bytes, result->sha256, result->best};
      for (const Progress &progress : saving_)
        if (progress.update == result->update)
          event.progress = progress;
      std::erase_if(saving_,
                    [&](const Progress &progress) { return progress.update <= result->update; });
      lastSave_.reset();
      lastCheckpoint_ = result->path;
      observer_.save(event);
    }
  }

  /// The last validation and checkpoint, where the loop has not just made them.
  Status finish(EndReason &reason) {
    bool best = false;
    bool interrupted = reason == EndReason::Signal || reason == EndReason::Stopped;
    if (validFeed_ && !interrupted && validatedUpdate_ != state_.update) {
      LSTMC_TRY(validate(best, options_.interrupted));
      if (validatedUpdate_ != state_.update)
        reason = signal() == 0 && options_.stop ? EndReason::Stopped : EndReason::Signal;
    }
    return best || savedUpdate_ != state_.update ? save(best) : Status();
  }

  Result<EndEvent> end(const Status &status, EndReason reason) {
    EndEvent event{progress_,
                   status.ok() ? reason : EndReason::Error,
                   0,
                   lastLoss_,
                   state_.bestLoss,
                   fmt::format("{:016x}", model_.weightsHash()),
                   lastCheckpoint_,
                   failedUpdate_,
                   state_.bestUpdate};
    if (options_.reached)
      *options_.reached = stateReached();
    if (reason == EndReason::Signal)
      event.signal = model_.signal();
    observer_.end(event);
    if (!status.ok())
      return status.error();
    return event;
  }

  Trainable &model_;
  const TrainOptions &options_;
  TrainObserver &observer_;
  const data::DataSet *data_ = nullptr;
  std::unique_ptr<data::Feed> feed_, validFeed_;
  std::optional<data::FillAhead> inputs_; ///< of feed_
  const std::function<bool()> fillNext_ = [this] {
    inputs_->fillNext(positionAfter(state_.position));
    return true;
  };
  std::unique_ptr<CheckpointWriter> writer_;

  CheckpointState state_; ///< `seconds` stay those of the runs before this one
  MetricTotals running_;  ///< since the last line
  Progress progress_;
  std::optional<double> lastLoss_;
  int64_t validatedUpdate_ = -1, savedUpdate_ = -1;
  std::vector<Progress> saving_;
  std::optional<Status> lastSave_; ///< the newest save's, if it failed
  std::string resumedFrom_, lastCheckpoint_, failedUpdate_;

  Clock::time_point begin_, lineBegin_;
  int64_t lineLabels_ = 0, lineSamples_ = 0;
  double inputSeconds_ = 0; ///< since the last line
  double startShare_ = 0;
};

} // namespace

Result<EndEvent> train(Trainable &model, const data::DataSet &data, const data::DataSet *valid,
                       const TrainOptions &options, TrainObserver &observer) {
  return Run(model, options, observer).go(data, valid);
}

} // namespace lstmc::training
