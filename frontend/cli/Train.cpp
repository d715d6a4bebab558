// train: the loop around a compiled step, with checkpoints.

#include <algorithm>
#include <chrono>
#include <cmath>

#include "executor/abi/EntryNames.h"
#include "executor/package/Plan.h"
#include "executor/training/SessionTrainable.h"
#include "executor/training/Signals.h"
#include "executor/training/TrainReport.h"
#include "executor/training/Trainer.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/DataFlags.h"
#include "frontend/cli/Expect.h"
#include "frontend/cli/FitCheck.h"
#include "frontend/cli/Model.h"
#include "frontend/cli/PlanText.h"
#include "frontend/cli/Progress.h"
#include "frontend/cli/SettingText.h"
#include "frontend/cli/ThreadFlags.h"
#include "frontend/cli/Trace.h"
#include "frontend/cli/Version.h"
#include "passes/planning/PackageForecast.h"
#include "passes/planning/rates/MachineRates.h"
#include "viz/Cost.h"

namespace lstmc::cli {

namespace {

constexpr std::string_view kTrainMetrics[] = {"loss", "best_loss", "perplexity", "update"};

std::string asText(const package::PackageData &data) {
  package::Bytes bytes = package::serialize(data);
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// The net for one symbol at a time with all states kept: what `sample` runs. None where the net
/// does not take one sequence of one step.
std::optional<std::string> samplePackage(const Options &options, const ModelRequest &request,
                                         const package::PackageData &trained) {
  ModelRequest single = request;
  single.entries = {"forward"};
  single.carry = {"*"};
  for (const package::Entry &entry : trained.entries)
    if (entry.name == "step")
      for (const package::Binding &input : entry.inputs)
        if (input.role != "scalar") {
          if (trained.buffers[input.buffer].shape.size() != 2)
            return std::nullopt;
          single.shapes.push_back({input.name, {1, 1}, {}});
        }
  Options quiet = options;
  std::erase_if(quiet.given, [](const Options::Given &given) {
    return given.flag == "batch" || given.flag == "shape" || given.flag == "entry" ||
           given.flag == "mem";
  });
  Checked<Model> model = loadModel(quiet, single);
  if (!model.ok() || !model->compiled)
    return std::nullopt;
  return asText(model->compiled->package);
}

/// Extent of the dim `seq` of a training input; 0 where none has it.
int64_t stepsOf(const package::PackageData &data) {
  for (const package::Entry &entry : data.entries)
    for (const package::Binding &input : entry.inputs)
      for (size_t axis = 0; entry.name == "step" && axis < input.dims.size(); ++axis)
        if (input.dims[axis] == "seq")
          return data.buffers[input.buffer].shape[axis];
  return 0;
}

Status readAmounts(const Options &options, training::TrainOptions &train) {
  auto read = [&](std::string_view flag, training::Amount &amount) -> Status {
    if (std::string text = options.text(flag); !text.empty()) {
      LSTMC_ASSIGN(amount, training::Amount::parse(text, flag));
    }
    return {};
  };
  if (train.fit.after)
    train.after = *train.fit.after;
  LSTMC_TRY(read("after", train.after));
  LSTMC_TRY(read("valid-every", train.validEvery));
  LSTMC_TRY(read("save-every", train.saveEvery));
  LSTMC_TRY(read("disp-every", train.dispEvery));
  LSTMC_ASSIGN(int64_t keep, options.countInForce("keep"));
  LSTMC_ASSIGN(train.keepEvery, options.countInForce("keep-every"));
  LSTMC_ASSIGN(train.checkReplicas, options.countInForce("check-replicas"));
  LSTMC_ASSIGN(int64_t patience, options.countInForce("early-stop"));
  train.keep = int(keep);
  train.earlyStop = int(patience);
  return {};
}

Result<training::TrainOptions> trainOptions(const Model &model, const Options &options) {
  training::TrainOptions train;
  for (const package::Setting &setting : model.fit) {
    LSTMC_ASSIGN(bool known, train.fit.set(setting.name, setting.value));
    (void)known; // the others were compiled into the step
  }
  LSTMC_TRY(readAmounts(options, train));
  LSTMC_ASSIGN(train.seed, seedInForce(model, options));
  train.folder = options.text("output");
  train.resume = options.has("resume");
  train.overwrite = options.has("force");
  train.version = versionLine();
  return train;
}

/// Prints for people and records for programs.
struct Observers : training::TrainObserver {
  std::vector<training::TrainObserver *> all;
  std::string failedUpdate; ///< as training::EndEvent
  void start(const training::StartEvent &e) override {
    each([&](auto &o) { o.start(e); });
  }
  void tick(const training::UpdateEvent &e) override {
    each([&](auto &o) { o.tick(e); });
  }
  void update(const training::UpdateEvent &e) override {
    each([&](auto &o) { o.update(e); });
  }
  void valid(const training::ValidEvent &e) override {
    each([&](auto &o) { o.valid(e); });
  }
  void save(const training::SaveEvent &e) override {
    each([&](auto &o) { o.save(e); });
  }
  void warning(const Error &e) override {
    each([&](auto &o) { o.warning(e); });
  }
  void end(const training::EndEvent &e) override {
    failedUpdate = e.failedUpdate;
    each([&](auto &o) { o.end(e); });
  }
  template <typename F> void each(F call) {
    for (training::TrainObserver *observer : all)
      call(*observer);
  }
};

/// The time from one update to the next where nothing else came between.
class UpdateClock : public training::TrainObserver {
public:
  void tick(const training::UpdateEvent &) override {
    auto now = std::chrono::steady_clock::now();
    if (last_)
      add(std::chrono::duration<double>(now - *last_).count());
    last_ = now;
  }
  void valid(const training::ValidEvent &) override { last_.reset(); }
  void save(const training::SaveEvent &) override { last_.reset(); }

  /// "forecast  update 131 ms, measured 128 ms (+2 %)"; empty without two updates in a row.
  std::string text(double forecast) {
    if (seconds_.empty())
      return "";
    std::nth_element(seconds_.begin(), seconds_.begin() + long(seconds_.size() / 2),
                     seconds_.end());
    double median = seconds_[seconds_.size() / 2];
    return fmt::format("forecast  update {}, measured {} ({:+.0f} %)", viz::durationText(forecast),
                       viz::durationText(median), 100 * (forecast / median - 1));
  }

private:
  /// The newest, so that a long training needs no more memory than a short one.
  void add(double seconds) {
    if (seconds_.size() < kKept)
      seconds_.push_back(seconds);
    else
      seconds_[next_++ % kKept] = seconds;
  }

  static constexpr size_t kKept = 4096;
  std::optional<std::chrono::steady_clock::time_point> last_;
  std::vector<double> seconds_;
  size_t next_ = 0;
};

/// Packs weights for all entries, so that a training that cannot have the memory it planned for a
/// validation ends before it began.
Status prepareAll(Session &session) {
  for (const package::Entry &entry : session.package().data().entries)
    if (entry.name.starts_with(kPreparePrefix))
      LSTMC_TRY(session.run(entry.name));
  return {};
}

/// Whether the data fit the network.
Status dryRun(training::Trainable &model, const ModelData &data,
              const training::TrainOptions &options) {
  using Entry = training::Trainable::Entry;
  LSTMC_ASSIGN(auto inputs, model.inputs(Entry::Step));
  LSTMC_ASSIGN(auto feed, data.data->feed(data::Part::Train, inputs, options.seed));
  if (data.valid) {
    LSTMC_ASSIGN(auto validInputs, model.inputs(Entry::Evaluate));
    LSTMC_ASSIGN(auto validFeed, data.valid->feed(data::Part::All, validInputs, options.seed));
  }
  return {};
}

int exitOf(const training::EndEvent &end) {
  return end.reason == training::EndReason::Signal ? 128 + end.signal : 0;
}

} // namespace

int trainCommand(const Options &options, Console &console) {
  std::vector<std::string_view> metricNames(std::begin(kTrainMetrics), std::end(kTrainMetrics));
  Result<std::vector<Expectation>> wanted = expectations(options, metricNames);
  if (!wanted.ok())
    return console.fail(wanted.error());
  Result<std::vector<std::string>> metrics = metricsAsked(options);
  if (!metrics.ok())
    return console.fail(metrics.error());
  if (!options.has("output") && !options.has("dry-run"))
    return console.fail(fail(ErrorCode::E0001, "train writes checkpoints: -o DIR"));
  if (options.value("output") == "-")
    return console.fail(fail(ErrorCode::E0001, "train writes a folder of checkpoints, which "
                                               "stdout cannot be: -o DIR"));
  if (options.operands.size() != 1)
    return console.fail(
        fail(ErrorCode::E0001, "train takes one MODEL, got {}", options.operands.size()));

  Trace trace(options);
  // The data first: they offer the size of the vocabulary that the net may take.
  ModelRequest request;
  std::vector<package::Setting> fileData;
  const std::string &path = options.operands[0];
  if (isSource(path)) {
    Checked<lnet::LoadedNet> net = loadSource(path, options, request);
    if (!net.ok())
      return console.fail(net.diagnostics());
    fileData = settingTexts(net->data);
  }
  // A package keeps what its file says of data, and takes no more from them.
  std::optional<Checked<Model>> read;
  if (!isSource(path)) {
    read.emplace(loadModel(options, request));
    if (!read->ok())
      return console.fail(read->diagnostics());
    fileData = (*read)->package->data().data;
  }
  Result<ModelData> data = loadData(options, fileData, {path, ""}, nullptr);
  if (!data.ok())
    return console.fail(data.error());
  if (data->vocabulary)
    request.offeredVocab = int64_t(data->vocabulary->size());
  measureIfNew(threadsInQuestion(options), console);
  if (!read)
    read.emplace(loadModel(options, request));
  Checked<Model> &model = *read;
  if (!model.ok())
    return console.fail(model.diagnostics());
  console.warn(model->warnings);

  for (const std::string &name : *metrics)
    if (Status status = checkMetric(name, headsOf(model->package->data())); !status.ok())
      return console.fail(status.error());
  Result<training::TrainOptions> train = trainOptions(*model, options);
  if (!train.ok())
    return console.fail(train.error());
  Result<std::unique_ptr<Session>> session = openSession(*model, options);
  if (!session.ok())
    return console.fail(session.error());
  Result<std::unique_ptr<training::SessionTrainable>> trainable =
      training::SessionTrainable::create(**session);
  if (!trainable.ok())
    return console.fail(trainable.error());
  train->attachments.push_back({"model.lstmc", asText(model->package->data())});
  if (model->compiled && data->vocabulary)
    if (std::optional<std::string> sample =
            samplePackage(options, request, model->compiled->package))
      train->attachments.push_back({"sample.lstmc", *sample});

  int64_t elements = 0;
  for (const StoredTensor &parameter : (*trainable)->parameters())
    elements += parameter.tensor.elements();
  console.say(fmt::format("{:<9} {} parameters, {}, {}, seed {}, {}", model->package->data().net,
                          grouped(elements), model->package->data().numerics,
                          package::deviceList(model->package->data()), train->seed, versionLine()));
  if (model->compiled && !model->compiled->shares.empty())
    console.say(sharesLine(model->compiled->shares, options.value("work-load-list").value_or("")));
  if (!model->recomputed.empty())
    console.say(model->recomputed);
  if (model->compiled && !model->compiled->layouts.empty())
    console.say(layoutsText(model->compiled->layouts, 3));
  if (model->compiled)
    console.say(planLine(model->package->data(), (*session)->device(0).memoryBytes()));
  planning::PackageForecast forecast = planning::forecastPackage(
      model->package->data(),
      planning::machinesOf(model->package->data(), (*session)->device(0).threads()));
  console.say(forecastLine(model->package->data(), forecast));

  if (model->compiled)
    trace.passes(model->compiled->spans);
  trace.watch(**session);
  if (options.has("dry-run")) {
    Status status = dryRun(**trainable, *data, *train);
    if (!status.ok())
      return console.fail(status.error());
    console.say("nothing was trained: --dry-run");
    return 0;
  }
  if (Status status = prepareAll(**session); !status.ok())
    return console.fail(status.error());
  Observers observers;
  if (metrics->empty() && !train->fit.metric.empty())
    *metrics = splitCommas(train->fit.metric);
  train->metrics = *metrics;
  Progress progress(console, *metrics);
  UpdateClock clock;
  observers.all = {&progress, &clock};
  std::unique_ptr<training::TrainReport> report;
  if (console.json()) {
    auto form = options.text("format") == "jsonl" ? training::TrainReport::Form::Lines
                                                  : training::TrainReport::Form::Document;
    std::vector<std::string> devices;
    for (const package::Device &device : model->package->data().devices)
      devices.push_back(device.name);
    training::ReportContext context{versionLine(),
                                    versionLine(),
                                    path,
                                    devices,
                                    stepsOf(model->package->data()),
                                    planJson(model->package->data(), &forecast).dump()};
    report = std::make_unique<training::TrainReport>(
        form, context, [&console](const std::string &text) { console.print(text); });
    observers.all.push_back(report.get());
  }

  Result<training::EndEvent> end =
      training::train(**trainable, *data->data, data->valid.get(), *train, observers);
  if (!end.ok()) {
    if (!(*session)->fault() || end.error().code != ErrorCode::E0701)
      return console.fail(end.error());
    Diagnostic fault = *(*session)->fault();
    if (!observers.failedUpdate.empty())
      fault.reasons.push_back(
          {fmt::format("saved to see it again: lstmc run {}{}", observers.failedUpdate,
                       options.has("check-nan") ? " --check-nan" : ""),
           {}});
    return console.fail(Diagnostics{fault});
  }
  if (std::string text = clock.text(forecast.seconds()); !text.empty())
    console.say(text);
  if (Status status = trace.write(console); !status.ok())
    return console.fail(status.error());
  std::vector<training::HeldExpectation> held =
      judge(*wanted, [&](const std::string &metric) -> std::optional<double> {
        if (metric == "loss")
          return end->loss;
        if (metric == "best_loss")
          return end->bestLoss;
        if (metric == "update")
          return double(end->progress.update);
        return end->loss ? std::optional(std::exp(*end->loss)) : std::nullopt;
      });
  bool asExpected = allHeld(held, console);
  int exit = exitOf(*end) ? exitOf(*end) : asExpected ? 0 : int(ExitCode::AnswerIsNo);
  if (report) {
    report->finish((*session)->memory(), held, exit);
  } else {
    std::string line = end->lastCheckpoint.empty() ? "(no checkpoint)" : end->lastCheckpoint;
    if (end->loss)
      line += fmt::format("  loss {:.4f}", *end->loss);
    if (end->bestLoss)
      line += fmt::format("  best {:.4f}", *end->bestLoss);
    console.print(line + fmt::format("  weights {}", end->weightsHash));
  }
  return exit;
}

} // namespace lstmc::cli
