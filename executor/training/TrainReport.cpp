#include "executor/training/TrainReport.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "executor/device/DeviceNames.h"

namespace lstmc::training {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
Json number(const std::optional<double> &value) { return value ? number(*value) : Json(nullptr); }

Json optionalText(const std::string &text) { return text.empty() ? Json(nullptr) : Json(text); }

Json lineOf(std::string_view event, const Progress &progress) {
  return {{"schema", "lstmc.train/1"},
          {"event", event},
          {"update", progress.update},
          {"epoch", number(progress.epoch)},
          {"time_s", number(progress.seconds)}};
}

Json expectationList(const std::vector<HeldExpectation> &expectations) {
  Json list = Json::array();
  for (const HeldExpectation &one : expectations)
    list.push_back({{"text", one.text}, {"value", number(one.value)}, {"held", one.held}});
  return list;
}

bool isEmulated(const MemoryUse &memory) {
  return std::ranges::any_of(memory.devices,
                             [](const DevicePeak &peak) { return lstmc::isEmulated(peak.device); });
}

Json memoryFields(const MemoryUse &memory) {
  Json peaks = Json::array();
  for (const DevicePeak &peak : memory.devices)
    peaks.push_back({{"device", peak.device},
                     {"planned_bytes", peak.plannedBytes},
                     {"measured_bytes", peak.touchedBytes}});
  Json fields = {{"peak", peaks}, {"resident_beyond_bytes", memory.residentBeyondBytes}};
  if (isEmulated(memory))
    fields["emulated"] = true;
  return fields;
}

std::string textOf(const Json &document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace

struct TrainReport::State {
  Form form;
  ReportContext context;
  Sink sink;
  Json start = nullptr, valids = Json::array(), saves = Json::array(), end = nullptr;

  void take(const Json &line, Json *list) {
    if (form == Form::Lines)
      sink(textOf(line));
    else if (list)
      list->push_back(line);
  }
};

TrainReport::TrainReport(Form form, ReportContext context, Sink sink)
    : state_(new State{form, std::move(context), std::move(sink)}) {}
TrainReport::~TrainReport() = default;

void TrainReport::start(const StartEvent &event) {
  const ReportContext &context = state_->context;
  Json line = lineOf("start", event.progress);
  line["version"] = context.version;
  line["build"] = context.build;
  line["seed"] = event.seed;
  line["model"] = context.model;
  line["graph_hash"] = event.graphHash;
  line["parameters"] = event.parameters;
  line["devices"] = context.devices;
  if (std::ranges::any_of(context.devices, lstmc::isEmulated))
    line["emulated"] = true;
  line["batch"] = event.batch;
  line["steps"] = context.steps;
  line["shards"] = event.shards;
  line["numerics"] = event.numerics;
  line["resumed_from"] = optionalText(event.resumedFrom);
  line["plan"] = Json::parse(context.planJson, nullptr, false);
  if (line["plan"].is_discarded())
    line["plan"] = nullptr;
  state_->start = line;
  state_->take(line, nullptr);
}

void TrainReport::update(const UpdateEvent &event) {
  Json line = lineOf("update", event.progress);
  line["loss"] = number(event.loss);
  line["perplexity"] = number(event.perplexity);
  if (!event.metrics.empty())
    line["metrics"] = Json::object();
  for (const auto &[name, value] : event.metrics)
    line["metrics"][name] = number(value);
  line["gradient_norm"] = number(event.gradientNorm);
  if (!event.gradientNorms.empty())
    line["gradient_norms"] = Json::object();
  for (const NamedNorm &norm : event.gradientNorms)
    line["gradient_norms"][norm.name] = number(norm.value);
  line["learning_rate"] = number(event.learningRate);
  line["loss_scale"] = number(event.lossScale);
  line["labels"] = event.labels;
  line["labels_per_s"] = number(event.labelsPerSecond);
  line["samples_per_s"] = number(event.samplesPerSecond);
  line["input_wait_s"] = number(event.inputSeconds);
  line["left_s"] = number(event.secondsLeft);
  state_->take(line, nullptr);
}

void TrainReport::valid(const ValidEvent &event) {
  Json line = lineOf("valid", event.progress);
  line["loss"] = number(event.loss);
  line["perplexity"] = number(event.perplexity);
  line["metrics"] = Json::object();
  for (const auto &[name, value] : event.metrics)
    line["metrics"][name] = number(value);
  line["best"] = event.best;
  state_->take(line, &state_->valids);
}

void TrainReport::save(const SaveEvent &event) {
  Json line = lineOf("save", event.progress);
  line["path"] = event.path;
  line["bytes"] = event.bytes;
  line["sha256"] = event.sha256;
  line["best"] = event.best;
  state_->take(line, &state_->saves);
}

void TrainReport::end(const EndEvent &event) {
  Json line = lineOf("end", event.progress);
  line["reason"] = endReasonName(event.reason);
  line["loss"] = number(event.loss);
  line["best_loss"] = number(event.bestLoss);
  line["weights_hash"] = event.weightsHash;
  line["checkpoint"] = optionalText(event.lastCheckpoint);
  state_->end = line;
}

void TrainReport::finish(const MemoryUse &memory, const std::vector<HeldExpectation> &expectations,
                         int exitCode) {
  Json &end = state_->end;
  if (end.is_null())
    end = lineOf("end", {});
  end.update(memoryFields(memory));
  end["expect"] = expectationList(expectations);
  end["exit"] = exitCode;
  if (state_->form == Form::Lines)
    return state_->sink(textOf(end));
  Json document = {{"schema", "lstmc.train/1"},
                   {"start", state_->start},
                   {"valid", state_->valids},
                   {"saves", state_->saves},
                   {"end", end}};
  state_->sink(textOf(document));
}

std::string memoryJson(const MemoryUse &memory) { return textOf(memoryFields(memory)); }

std::string evaluationJson(const Evaluation &result, const EvaluationContext &context,
                           const std::vector<std::string> &metrics,
                           const std::vector<HeldExpectation> &expectations) {
  const MetricTotals &totals = result.totals;
  Json document = {{"schema", "lstmc.eval/1"},
                   {"model", context.model},
                   {"data", context.data},
                   {"seed", context.seed},
                   {"build", context.build},
                   {"weights_hash", context.weightsHash},
                   {"loss", number(totals.value("loss"))},
                   {"perplexity", number(totals.value("perplexity"))},
                   {"bits_per_label", number(totals.value("bits_per_label"))},
                   {"metrics", Json::object()},
                   {"labels", int64_t(totals.labels())},
                   {"ignored", int64_t(totals.ignored())},
                   {"sequences", result.sequences},
                   {"time_s", number(result.seconds)},
                   {"labels_per_s", number(totals.labels() / result.seconds)},
                   {"expect", expectationList(expectations)}};
  for (std::string_view name : metricsReported(metrics))
    if (!metrics.empty() || totals.value(name))
      document["metrics"][std::string(name)] = number(totals.value(name));
  document.update(memoryFields(context.memory));
  return textOf(document);
}

} // namespace lstmc::training
