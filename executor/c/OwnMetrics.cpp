#include "executor/c/OwnMetrics.h"

#include <algorithm>

#include "executor/base/Quote.h"
#include "executor/c/Guard.h"
#include "executor/session/Binding.h"
#include "executor/session/UnknownName.h"
#include "executor/session/Values.h"

namespace lstmc::c {

static Status checkMetrics(std::span<const lstmc_own_metric> metrics) {
  for (const lstmc_own_metric &metric : metrics) {
    if (!metric.name || !metric.add || !metric.value)
      return fail(ErrorCode::E0001, "own metrics: found one without a name, an add or a value");
    const auto same = std::ranges::count_if(metrics, [&](const lstmc_own_metric &other) {
      return other.name && std::string_view(other.name) == metric.name;
    });
    if (same > 1 || training::isMetric(metric.name) || *metric.name == 0)
      return fail(ErrorCode::E0001,
                  "own metric {}: found a name that another one has, want one "
                  "of its own",
                  inQuotes(metric.name));
  }
  return {};
}

Result<std::unique_ptr<OwnMetrics>> OwnMetrics::create(lstmc_trainer &trainer,
                                                       std::span<const lstmc_own_metric> metrics) {
  LSTMC_TRY(checkMetrics(metrics));
  Session &session = *trainer.session->session;
  for (const char *entry : {"forward", "evaluate"})
    if (!session.hasEntry(entry))
      return fail(ErrorCode::E0001,
                  "own metrics are of outputs of forward, and the package or the "
                  "session has no entry {}",
                  entry);
  LSTMC_ASSIGN(std::vector<data::InputSlot> from, training::inputSlots(session, "evaluate"));
  LSTMC_ASSIGN(std::vector<data::InputSlot> to, training::inputSlots(session, "forward"));
  return std::unique_ptr<OwnMetrics>(
      new OwnMetrics(trainer, metrics, std::move(from), std::move(to)));
}

void OwnMetrics::begin() {
  for (const lstmc_own_metric &metric : metrics_)
    if (metric.begin)
      metric.begin(metric.user);
}

Status OwnMetrics::filled() {
  before_.keep();
  batch_.inputs.clear();
  for (const data::InputSlot &slot : from_) {
    data::Array array;
    array.dtype = slot.tensor.dtype;
    array.shape.assign(slot.tensor.shape.begin(), slot.tensor.shape.begin() + slot.tensor.rank);
    array.bytes.resize(size_t(slot.tensor.elements()) * dtypeBytes(array.dtype));
    session::copyTensor(slot.tensor, array.tensor());
    batch_.inputs.emplace_back(slot.name, std::move(array));
  }
  return {};
}

Status OwnMetrics::measured(int64_t rows) {
  after_.keep();
  before_.putBack();
  for (const data::InputSlot &slot : to_) {
    const auto found =
        std::ranges::find(batch_.inputs, slot.name, [](const auto &input) { return input.first; });
    if (found != batch_.inputs.end())
      session::copyTensor(found->second.tensor(), slot.tensor);
    else
      session::setMissing(slot.tensor, slot.range);
  }
  LSTMC_TRY(batch_.session->run("forward"));
  batch_.rows = rows;
  for (const lstmc_own_metric &metric : metrics_)
    if (const int result = metric.add(metric.user, &batch_); result != 0)
      return fail(ErrorCode::E0001, "own metric {} has ended the training: found {} from it",
                  inQuotes(metric.name), result);
  after_.putBack();
  return {};
}

std::vector<std::pair<std::string, double>> OwnMetrics::values() {
  std::vector<std::pair<std::string, double>> values;
  for (const lstmc_own_metric &metric : metrics_)
    values.emplace_back(metric.name, metric.value(metric.user));
  return values;
}

} // namespace lstmc::c

using namespace lstmc;

extern "C" {

lstmc_status lstmc_measured_tensor(const lstmc_measured *batch, lstmc_kind kind, const char *name,
                                   lstmc_tensor *tensor) {
  if (!batch || !name || !tensor)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    if (kind == LSTMC_OUTPUT) {
      LSTMC_ASSIGN(const Tensor output, batch->session->output("forward", name));
      c::describe(output, tensor);
      return {};
    }
    if (kind != LSTMC_INPUT)
      return fail(ErrorCode::E0001, "kind: found {}, want LSTMC_INPUT or LSTMC_OUTPUT", int(kind));
    std::vector<std::string_view> names;
    for (const auto &[known, array] : batch->inputs) {
      names.push_back(known);
      if (known != name)
        continue;
      c::describe(const_cast<data::Array &>(array).tensor(),
                  tensor); // a view of it is no const one
      return {};
    }
    return session::unknownName("input", name, "the network", std::move(names));
  });
}

int64_t lstmc_measured_rows(const lstmc_measured *batch) { return batch ? batch->rows : 0; }
}
