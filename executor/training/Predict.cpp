#include "executor/training/Predict.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "executor/data/FillAhead.h"
#include "executor/session/Binding.h"
#include "executor/session/Dependents.h"
#include "executor/session/NonFinite.h"
#include "executor/session/Values.h"
#include "executor/session/WhyNotFinite.h"
#include "executor/training/KeptStates.h"
#include "executor/training/SessionTrainable.h"

namespace lstmc::training {

namespace {

constexpr std::string_view kEntry = "forward";

/// Batches in which the labels that the data lack are a value that the network accepts, always the
/// same.
class FeedWithoutLabels : public data::Feed {
public:
  FeedWithoutLabels(std::unique_ptr<data::Feed> feed, std::vector<data::InputSlot> labels)
      : feed_(std::move(feed)), labels_(std::move(labels)) {}

  int64_t batches() const override { return feed_->batches(); }
  int64_t sequences() const override { return feed_->sequences(); }
  int64_t rows(const data::Position &at) const override { return feed_->rows(at); }
  std::string leftOut() const override { return feed_->leftOut(); }
  bool restarts(const data::Position &at) const override { return feed_->restarts(at); }
  std::string whyIndependent() const override { return feed_->whyIndependent(); }

  Status fill(const data::Position &at) override {
    for (const data::InputSlot &slot : labels_)
      session::setMissing(slot.tensor, slot.range);
    return feed_->fill(at);
  }

private:
  std::unique_ptr<data::Feed> feed_;
  std::vector<data::InputSlot> labels_;
};

/// Where the rows of the batch are in an output; -1: it has none, or nothing says where.
int batchAxisOf(const package::Binding &output, const Tensor &tensor, int64_t batch) {
  if (int axis = axisNamed(output, "batch"); axis >= 0)
    return axis;
  bool other = !output.dims.empty() && !output.dims[0].empty();
  return tensor.rank > 0 && tensor.shape[0] == batch && !other ? 0 : -1;
}

/// Whether a head of `evaluate` whose output is predicted could not be measured row by row.
bool rowsMix(const package::PackageData &data, const std::vector<PredictedRows> &outputs) {
  for (const package::Entry &entry : data.entries)
    for (const package::Binding &metric : entry.outputs)
      for (const PredictedRows &rows : outputs)
        if (entry.name == "evaluate" && metric.name == rows.output->name + "_metric" &&
            data.buffers[metric.buffer].shape.size() == 1)
          return true;
  return false;
}

} // namespace

std::string outputName(std::string name) {
  constexpr std::string_view kSuffix = "_output";
  if (name.ends_with(kSuffix) && name.size() > kSuffix.size())
    name.erase(name.size() - kSuffix.size());
  return name;
}

int axisNamed(const package::Binding &binding, std::string_view dim) {
  auto found = std::ranges::find(binding.dims, dim);
  return dim.empty() || found == binding.dims.end() ? -1 : int(found - binding.dims.begin());
}

Result<Prediction> preparePrediction(Session &session, const data::DataSet &data,
                                     const std::string &path) {
  const package::PackageData &package = session.package().data();
  LSTMC_ASSIGN(std::vector<data::InputSlot> slots, inputSlots(session, kEntry));
  std::vector<data::InputSlot> given, lacking;
  std::vector<std::string> names;
  for (const data::InputSlot &slot : slots)
    if (data.fills(slot)) {
      given.push_back(slot);
    } else {
      lacking.push_back(slot);
      names.push_back(slot.name);
    }
  Prediction made;
  LSTMC_ASSIGN(made.samples, data.samples(std::move(given), !package.states.empty()));
  if (!lacking.empty())
    made.samples.feed =
        std::make_unique<FeedWithoutLabels>(std::move(made.samples.feed), std::move(lacking));

  const int64_t batch = made.samples.feed->sequences();
  const package::Entry &entry = package.entries[*session.package().findEntry(kEntry)];
  const std::vector<std::string> unknown = session::dependents(package, entry, names);
  for (const package::Binding &output : entry.outputs) {
    LSTMC_ASSIGN(Tensor tensor, session.output(kEntry, output.name));
    const int axis = batchAxisOf(output, tensor, batch);
    const bool depends = std::ranges::find(unknown, output.name) != unknown.end();
    if (axis >= 0 && !depends)
      made.outputs.push_back({&output, tensor, axis});
    else
      made.leftOut.push_back(fmt::format(
          "output {} {}: {}", outputName(output.name), data::shapeText(data::shapeOf(tensor)),
          depends
              ? fmt::format("it depends on a label that the data lack: {}", fmt::join(names, ", "))
              : "no axis of it is the batch"));
  }
  if (made.outputs.empty())
    return failAt({path}, ErrorCode::E0610,
                  "predictions: found none, want an output with the rows of the batch; {}",
                  made.leftOut.empty() ? "the network has no output"
                                       : fmt::format("{}", fmt::join(made.leftOut, "; ")));
  made.mixesRows = rowsMix(package, made.outputs);
  if (made.mixesRows && made.samples.count % batch != 0)
    return failAt({path}, ErrorCode::E0605,
                  "data: found {} samples, want whole batches of {}, since the network mixes the "
                  "samples of a batch",
                  made.samples.count, batch);
  return made;
}

/// Whether the rows that are data are.
static bool isFinite(const Prediction &prediction, int64_t rows) {
  for (const PredictedRows &output : prediction.outputs) {
    Tensor data = output.tensor;
    data.shape[size_t(output.batchAxis)] = rows;
    if (session::firstNonFinite(data))
      return false;
  }
  return true;
}

Status predict(Session &session, Prediction &prediction,
               const std::function<Status(int64_t, int64_t)> &take,
               const std::function<bool()> &goesOn) {
  data::Feed &feed = *prediction.samples.feed;
  data::FillAhead inputs(feed);
  int64_t done = 0;
  KeptStates before(session); // the batch
  for (int64_t batch = 0; batch < feed.batches() && goesOn(); ++batch) {
    const data::Position position{0, batch};
    if (feed.restarts(position))
      session.resetStates();
    before.keep();
    LSTMC_TRY(inputs.fill(position));
    LSTMC_TRY(session.run(kEntry, [&, next = batch + 1] {
      if (next < feed.batches())
        inputs.fillNext({0, next});
      return next < feed.batches();
    }));
    const int64_t rows = feed.rows(position);
    if (!isFinite(prediction, rows)) {
      before.putBack();
      LSTMC_TRY(feed.fill(position));
      LSTMC_ASSIGN(prediction.fault,
                   session::whyNotFinite(session, kEntry, fmt::format("in batch {}", batch + 1)));
      return session::asError(*prediction.fault);
    }
    LSTMC_TRY(take(done, rows));
    done += rows;
  }
  return {};
}

PredictedArray::PredictedArray(const PredictedRows &output, int64_t samples)
    : name(output.output->name), batchAxis(output.batchAxis) {
  array.dtype = output.tensor.dtype;
  const std::span<const int64_t> shape = data::shapeOf(output.tensor);
  array.shape.assign(shape.begin(), shape.end());
  array.shape[size_t(batchAxis)] = samples;
  array.bytes.resize(data::arrayBytes(array.shape, array.dtype).value().value());
}

void PredictedArray::take(const Tensor &batch, int64_t first, int64_t rows) {
  const auto axis = size_t(batchAxis);
  Tensor from = batch, to = array.tensor();
  from.shape[axis] = to.shape[axis] = rows;
  to.data = to.as<uint8_t>() + size_t(first * to.strides[axis]) * dtypeBytes(to.dtype);
  session::copyTensor(from, to);
}

Result<std::vector<PredictedArray>> predictAll(Session &session, Prediction &prediction,
                                               const std::function<bool()> &goesOn) {
  std::vector<PredictedArray> arrays;
  for (const PredictedRows &output : prediction.outputs)
    arrays.emplace_back(output, prediction.samples.count);
  LSTMC_TRY(predict(
      session, prediction,
      [&](int64_t first, int64_t rows) -> Status {
        for (size_t i = 0; i < arrays.size(); ++i)
          arrays[i].take(prediction.outputs[i].tensor, first, rows);
        return {};
      },
      goesOn));
  return arrays;
}

} // namespace lstmc::training
