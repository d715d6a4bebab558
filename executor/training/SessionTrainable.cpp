#include "executor/training/SessionTrainable.h"

#include <algorithm>
#include <map>

#include "executor/abi/EntryNames.h"
#include "executor/base/NumberText.h"
#include "executor/base/ParseNumber.h"

namespace lstmc::training {
namespace {

constexpr std::string_view kEntryNames[] = {"step", "evaluate"};
constexpr std::string_view kNormPrefix = "gradient_norm:";

/// What the kernel that writes an output measures; nothing where none does directly.
std::optional<HeadKind> kindOf(const package::Entry &entry, const package::Binding &output) {
  static const std::map<KernelId, HeadKind> kKinds = {
      {KernelId::SoftmaxMetric, HeadKind::Softmax},
      {KernelId::RegressionMetric, HeadKind::Regression},
      {KernelId::LossMetric, HeadKind::Loss}};
  for (const package::DeviceProgram &program : entry.programs) {
    for (const package::Launch &launch : program.launches) {
      auto kind = kKinds.find(launch.kernel);
      if (kind == kKinds.end())
        continue;
      auto y = size_t(kernelRecord(launch.kernel).operand("y"));
      if (launch.operands[y].buffer == output.buffer)
        return kind->second;
    }
  }
  return std::nullopt;
}

Head headMeasuredBy(const package::PackageData &data, const package::Entry &entry,
                    const package::Binding &output) {
  Head head{.name = output.name};
  for (const package::Metric &metric : data.metrics)
    if (metric.name == output.name)
      head = headOf(metric);
  head.kind = kindOf(entry, output).value_or(head.kind);
  return head;
}

/// The scores of the heads; null for those that have none, and where nothing is evaluated. E0605
/// where they are not of the rows that the metrics are of.
Result<std::vector<Tensor>> scoresOf(Session &session, const std::vector<Head> &heads,
                                     const std::vector<Tensor> &metrics) {
  const package::Package &package = session.package();
  std::vector<Tensor> all(heads.size());
  if (!session.hasEntry("evaluate"))
    return all;
  for (const package::Metric &metric : package.data().metrics) {
    auto head = std::ranges::find(heads, metric.name, &Head::name);
    if (metric.scores.empty() || head == heads.end())
      continue;
    const auto number = size_t(head - heads.begin());
    LSTMC_ASSIGN(all[number], session.output("evaluate", metric.scores));
    if (metrics[number].rank == 2 && metrics[number].shape[0] != all[number].shape[2])
      return failAt({package.file()}, ErrorCode::E0605,
                    "entry evaluate: found scores of {} rows, want {} as measured",
                    all[number].shape[2], metrics[number].shape[0]);
  }
  return all;
}

} // namespace

Result<std::unique_ptr<SessionTrainable>> SessionTrainable::create(Session &session) {
  std::unique_ptr<SessionTrainable> model(new SessionTrainable(session));
  const package::Package &package = session.package();
  for (size_t e = 0; e < std::size(kEntryNames); ++e) {
    std::optional<size_t> index = package.findEntry(kEntryNames[e]);
    if (!index)
      continue;
    const package::Entry &entry = package.data().entries[*index];
    const bool runs = session.hasEntry(entry.name);
    std::vector<Head> heads;
    for (const package::Binding &output : entry.outputs) {
      if (output.role == "metric")
        heads.push_back(headMeasuredBy(package.data(), entry, output));
      if (!runs)
        continue;
      if (output.role == "metric") {
        LSTMC_ASSIGN(model->metrics_[e].emplace_back(), session.output(entry.name, output.name));
      } else if (output.name == "gradient_norm") {
        LSTMC_ASSIGN(model->gradientNorm_, session.output(entry.name, output.name));
      } else if (output.name.starts_with(kNormPrefix)) {
        LSTMC_ASSIGN(model->normTensors_.emplace_back(), session.output(entry.name, output.name));
        model->norms_.push_back({output.name.substr(kNormPrefix.size())});
      }
    }
    const bool first = e == 0 || !package.findEntry(kEntryNames[0]);
    if (!first && heads.size() != model->heads_.size())
      return failAt({package.file()}, ErrorCode::E0605,
                    "entry {}: found {} metrics, want {} as in step", entry.name, heads.size(),
                    model->heads_.size());
    if (first)
      model->heads_ = std::move(heads);
  }
  if (model->heads_.empty())
    return failAt(
        {package.file()}, ErrorCode::E0610,
        "network: found no loss to measure, want an entry step or evaluate with a metric");
  LSTMC_ASSIGN(model->scores_, scoresOf(session, model->heads_, model->metrics_[1]));
  return model;
}

Identity SessionTrainable::identity() const {
  const package::PackageData &data = session_.package().data();
  Identity identity{data.net,
                    data.graphHash,
                    data.producer,
                    session_.package().digest(),
                    data.numerics,
                    data.shards,
                    {}};
  for (const package::Setting &setting : data.settings)
    identity.settings.emplace_back(setting.name, setting.value);
  return identity;
}

// What the package names it has.

std::vector<StoredTensor> SessionTrainable::parameters() {
  std::vector<StoredTensor> tensors;
  for (const package::Parameter &parameter : session_.package().data().parameters)
    tensors.push_back(*session_.storedParameter(parameter.name));
  return tensors;
}

std::vector<StoredTensor> SessionTrainable::slots() {
  std::vector<StoredTensor> tensors;
  for (const package::Parameter &parameter : session_.package().data().parameters)
    for (const package::Slot &slot : parameter.slots)
      tensors.push_back(*session_.storedSlot(parameter.name, slot.name));
  return tensors;
}

std::vector<StoredTensor> SessionTrainable::states() {
  std::vector<StoredTensor> tensors;
  for (const package::State &state : session_.package().data().states)
    tensors.push_back(*session_.storedState(state.name));
  return tensors;
}

Result<std::vector<data::InputSlot>> inputSlots(Session &session, std::string_view entry) {
  const package::Package &package = session.package();
  std::optional<size_t> index = package.findEntry(entry);
  if (!index)
    return failAt({package.file()}, ErrorCode::E0610, "entry {}: found none in the package", entry);
  std::vector<data::InputSlot> slots;
  for (const package::Binding &input : package.data().entries[*index].inputs) {
    if (input.role == "scalar")
      continue;
    LSTMC_ASSIGN(Tensor tensor, session.input(entry, input.name));
    auto batch = std::find(input.dims.begin(), input.dims.end(), "batch");
    int axis = batch == input.dims.end() ? 0 : int(batch - input.dims.begin());
    LSTMC_ASSIGN(RowWindow rows, session.inputRows(entry, input.name, axis));
    slots.push_back({input.name, input.role == "label", tensor, axis, input.range, rows});
  }
  return slots;
}

Status prepareAll(Session &session) {
  for (const package::Entry &entry : session.package().data().entries)
    if (entry.name.starts_with(kPreparePrefix) && session.hasEntry(entry.name))
      LSTMC_TRY(session.run(entry.name));
  return {};
}

Result<std::vector<data::InputSlot>> SessionTrainable::inputs(Entry which) {
  return inputSlots(session_, kEntryNames[size_t(which)]);
}

Status SessionTrainable::step(const StepScalars &scalars, const std::function<bool()> &fillNext) {
  session_.setScalar("learning_rate", scalars.learningRate);
  session_.setScalar("update", scalars.update);
  session_.setScalar("seed", int64_t(scalars.seed));
  return session_.run("step", fillNext);
}

Status SessionTrainable::agree(std::string_view what, std::string_view value) {
  return session_.peers() ? lstmc::agree(*session_.peers(), what, value) : Status();
}

Result<double> SessionTrainable::sameSeconds(double mine) {
  if (!session_.peers())
    return mine;
  LSTMC_ASSIGN(std::vector<std::string> all, session_.peers()->gather(hexFloat(mine)));
  std::optional<double> seconds = parseHexFloat(all[0]);
  if (!seconds)
    return fail(ErrorCode::E0804, "rank 0 sent a time that cannot be read");
  return *seconds;
}

int SessionTrainable::signal() const {
  return session_.peers() ? session_.peers()->signal() : SignalWatch::pending();
}

Status SessionTrainable::evaluate() { return session_.run("evaluate"); }
Status SessionTrainable::evaluate(const std::function<bool()> &fillNext) {
  return session_.run("evaluate", fillNext);
}

/// Of a metric output; a row of it where it has rows.
static MetricValues valuesOf(const Tensor &tensor, int64_t row) {
  const int64_t fields = tensor.shape[size_t(tensor.rank) - 1]; // checked with the package
  MetricValues values{};
  std::copy_n(tensor.as<const double>() + row * fields, fields, values.begin());
  return values;
}

MetricValues SessionTrainable::metric(Entry entry, size_t head) {
  const Tensor &tensor = metrics_[size_t(entry)][head];
  if (tensor.rank == 1)
    return valuesOf(tensor, 0);
  MetricValues sums{};
  for (int64_t row = 0; row < tensor.shape[0]; ++row) {
    MetricValues values = valuesOf(tensor, row);
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] += values[i];
  }
  return sums;
}

bool SessionTrainable::measuresRows() const {
  const std::vector<Tensor> &heads = metrics_[size_t(Entry::Evaluate)];
  return std::all_of(heads.begin(), heads.end(), [](const Tensor &t) { return t.rank == 2; });
}

MetricValues SessionTrainable::rowMetric(size_t head, int64_t row) {
  return valuesOf(metrics_[size_t(Entry::Evaluate)][head], row);
}

const std::vector<NamedNorm> &SessionTrainable::gradientNorms() {
  for (size_t i = 0; i < norms_.size(); ++i)
    norms_[i].value = *normTensors_[i].as<const double>();
  return norms_;
}

std::optional<double> SessionTrainable::gradientNorm() {
  if (!gradientNorm_)
    return std::nullopt;
  return *gradientNorm_.as<const double>();
}

} // namespace lstmc::training
