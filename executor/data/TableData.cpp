#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "executor/base/Quote.h"
#include "executor/base/Sha256.h"
#include "executor/data/Array.h"
#include "executor/data/Elements.h"
#include "executor/data/Shuffle.h"
#include "executor/data/Sources.h"
#include "executor/data/TableColumns.h"

namespace lstmc::data {
namespace {

/// Windows of rows [window, features], with the target `horizon` rows after the last row.
class TableFeed : public Feed {
public:
  TableFeed(std::vector<Feature> features, Feature target, int64_t window, int64_t horizon,
            std::vector<int64_t> starts, int64_t batch, Part part, DataAndLabel slots,
            SampleOrder order)
      : features_(std::move(features)), target_(std::move(target)), window_(window),
        horizon_(horizon), starts_(std::move(starts)), batch_(batch), part_(part),
        data_(*slots.data), order_(std::move(order)) {
    if (slots.label)
      label_ = *slots.label;
  }

  int64_t batches() const override { return batchesOf(order_.count(), batch_, part_); }
  int64_t sequences() const override { return batch_; }
  int64_t rows(const Position &position) const override {
    return rowsOf(order_.count(), batch_, position.batch);
  }
  std::string leftOut() const override {
    return samplesLeftOut(order_.count(), batch_, part_, "windows");
  }
  bool restarts(const Position &) const override { return true; }

  Status fill(const Position &position) override {
    for (int64_t n = 0; n < batch_; ++n) {
      int64_t number = std::min(position.batch * batch_ + n, order_.count() - 1);
      int64_t start = starts_[size_t(order_.at(position.epoch, number))];
      fillData(start, n);
      if (label_)
        fillLabel(start, n);
    }
    return {};
  }

private:
  /// Writes the features of the window's rows one after the other, along the slot's other axes.
  void fillData(int64_t start, int64_t n) {
    row_.clear();
    for (int64_t t = 0; t < window_; ++t) {
      for (const Feature &feature : features_)
        feature.append(start + t, row_);
    }
    const Tensor &to = data_.tensor;
    int64_t base = n * to.strides[size_t(data_.batchAxis)];
    eachIndexBut(to, data_.batchAxis, [&](int64_t number, int64_t offset) {
      writeElement(to.data, to.dtype, base + offset, row_[size_t(number)]);
    });
  }

  /// The target: one value after the window, or one per step, each after its own row.
  void fillLabel(int64_t start, int64_t n) {
    const Tensor &to = label_->tensor;
    int64_t base = n * to.strides[size_t(label_->batchAxis)];
    int64_t values = to.elements() / batch_;
    eachIndexBut(to, label_->batchAxis, [&](int64_t number, int64_t offset) {
      int64_t row = start + horizon_ + (values == 1 ? window_ - 1 : number);
      writeElement(to.data, to.dtype, base + offset, target_.label(row));
    });
  }

  std::vector<Feature> features_;
  Feature target_;
  int64_t window_, horizon_;
  std::vector<int64_t> starts_; ///< first rows of the windows
  int64_t batch_;
  Part part_;
  InputSlot data_;
  std::optional<InputSlot> label_;
  SampleOrder order_;
  std::vector<double> row_;
};

class TableData : public DataSet {
public:
  TableData(const DataSpec &spec, CsvTable table, std::vector<ColumnScaling> scaling,
            std::string digest)
      : DataSet(spec), table_(std::move(table)), scaling_(std::move(scaling)) {
    digest_ = std::move(digest);
  }

  Result<std::unique_ptr<Feed>> feed(Part part, std::vector<InputSlot> slots,
                                     uint64_t seed) const override {
    LSTMC_ASSIGN(DataAndLabel filled, dataAndLabel(slots, DataKind::Csv));
    LSTMC_ASSIGN(int64_t batch, batchExtent(slots));
    LSTMC_ASSIGN(std::vector<Feature> features, inputFeatures());
    LSTMC_ASSIGN(Feature target, featureOf(table_, scaling_, spec_.target));
    LSTMC_ASSIGN(int64_t window, windowOf(*filled.data, batch, features));
    if (filled.label)
      LSTMC_TRY(checkLabel(*filled.label, batch, window));

    int64_t split = splitPoint(table_.rows, spec_.valid);
    int64_t begin = part == Part::Valid ? split : 0;
    int64_t end = part == Part::Train ? split : table_.rows;
    std::vector<int64_t> starts = windowStarts(features, &target, begin, end, window);
    if (batchesOf(int64_t(starts.size()), batch, part) < 1)
      return tooFewWindows(starts, begin, end,
                           part == Part::Train ? fmt::format("one batch of {}", batch) : "1");
    if (filled.label && filled.label->range)
      LSTMC_TRY(checkRange(table_, *filled.label, target, begin, end));
    if (filled.data->range)
      for (const Feature &feature : features)
        LSTMC_TRY(checkRange(table_, *filled.data, feature, begin, end));
    SampleOrder order(int64_t(starts.size()), spec_.shuffle && part == Part::Train, seed);
    return std::unique_ptr<Feed>(new TableFeed(std::move(features), std::move(target), window,
                                               spec_.horizon, std::move(starts), batch, part,
                                               filled, std::move(order)));
  }

  Result<Samples> samples(std::vector<InputSlot> slots, bool) const override {
    LSTMC_ASSIGN(DataAndLabel filled, dataAndLabel(slots, DataKind::Csv));
    LSTMC_ASSIGN(int64_t batch, batchExtent(slots));
    LSTMC_ASSIGN(std::vector<Feature> features, inputFeatures());
    LSTMC_ASSIGN(int64_t window, windowOf(*filled.data, batch, features));
    std::vector<int64_t> starts = windowStarts(features, nullptr, 0, table_.rows, window);
    if (starts.empty())
      return tooFewWindows(starts, 0, table_.rows, "1");
    if (filled.data->range)
      for (const Feature &feature : features)
        LSTMC_TRY(checkRange(table_, *filled.data, feature, 0, table_.rows));
    Samples all;
    all.count = int64_t(starts.size());
    for (int64_t start : starts)
      all.rows.push_back(start + window + spec_.horizon);
    all.feed.reset(new TableFeed(std::move(features), Feature(), window, spec_.horizon,
                                 std::move(starts), batch, Part::All, filled,
                                 SampleOrder(all.count, /*shuffle=*/false, /*seed=*/0)));
    return all;
  }

  std::optional<Target> target() const override { return targetOf(scaling_, spec_.target); }

  Learned learned() const override { return {std::nullopt, std::nullopt, scalingText(scaling_)}; }

private:
  std::vector<std::string> inputColumns() const {
    if (!spec_.inputs.empty())
      return spec_.inputs;
    std::vector<std::string> names;
    for (const CsvColumn &column : table_.columns)
      names.push_back(column.name);
    return names;
  }

  Result<std::vector<Feature>> inputFeatures() const {
    std::vector<Feature> features;
    for (const std::string &name : inputColumns()) {
      LSTMC_ASSIGN(features.emplace_back(), featureOf(table_, scaling_, name));
    }
    return features;
  }

  Error tooFewWindows(const std::vector<int64_t> &starts, int64_t begin, int64_t end,
                      std::string_view want) const {
    return failAt({table_.file}, ErrorCode::E0605,
                  "windows: found {} whole ones in rows {} to {}, want at least {}", starts.size(),
                  begin + 1, end, want);
  }

  Result<int64_t> windowOf(const InputSlot &slot, int64_t batch,
                           const std::vector<Feature> &features) const {
    int64_t width = 0;
    for (const Feature &feature : features)
      width += feature.width();
    int64_t perSample = slot.tensor.elements() / batch;
    int64_t window = perSample / width;
    if (perSample % width != 0 || (spec_.window != 0 && window != spec_.window))
      return failAt({table_.file}, ErrorCode::E0605,
                    "input {}: found {} values a sample, want {} of {} features",
                    inQuotes(slot.name), perSample,
                    spec_.window ? fmt::format("{} rows", spec_.window) : "whole rows", width);
    int last = slot.tensor.rank - 1;
    bool featuresLast = slot.tensor.rank <= 2 || slot.tensor.shape[size_t(last)] == width;
    if (!featuresLast || !isFloat(slot.tensor.dtype))
      return failAt({table_.file}, ErrorCode::E0605,
                    "input {}: found {} {}, want floats with {} features on the last axis",
                    inQuotes(slot.name), dtypeName(slot.tensor.dtype),
                    shapeText(shapeOf(slot.tensor)), width);
    return window;
  }

  Status checkLabel(const InputSlot &slot, int64_t batch, int64_t window) const {
    int64_t values = slot.tensor.elements() / batch;
    if (values != 1 && values != window)
      return failAt({table_.file}, ErrorCode::E0605,
                    "input {}: found {} values a sample, want 1 or {}, one a step",
                    inQuotes(slot.name), values, window);
    return {};
  }

  /// Windows in rows [begin, end) that have no missing cell, nor their targets, which are in these
  /// rows too. `target`: null for windows without.
  std::vector<int64_t> windowStarts(const std::vector<Feature> &features, const Feature *target,
                                    int64_t begin, int64_t end, int64_t window) const {
    auto whole = [&](int64_t row) {
      return std::none_of(features.begin(), features.end(),
                          [&](const Feature &feature) { return feature.missing(row); });
    };
    std::vector<int64_t> starts;
    int64_t wholeFrom = begin, labelledFrom = begin; // first row from which all rows up to `row`
                                                     // are complete
    for (int64_t row = begin; row + (target ? spec_.horizon : 0) < end; ++row) {
      if (!whole(row))
        wholeFrom = row + 1;
      if (target && target->missing(row + spec_.horizon))
        labelledFrom = row + 1;
      if (row + 1 - std::max(wholeFrom, labelledFrom) >= window)
        starts.push_back(row + 1 - window);
    }
    return starts;
  }

  CsvTable table_;
  std::vector<ColumnScaling> scaling_;
};

/// Applies `fill` to the missing cells.
Status treatMissing(CsvTable &table, Fill fill) {
  for (CsvColumn &column : table.columns) {
    for (int64_t row = 0; row < table.rows; ++row) {
      auto at = size_t(row);
      bool missing = column.text ? column.categories[at] < 0 : std::isnan(column.numbers[at]);
      if (!missing)
        continue;
      if (fill == Fill::Refuse)
        return failAt({table.file, table.lineOf(row), 1}, ErrorCode::E0607,
                      "column {}: found a missing cell; fill=previous or fill=drop says what to do",
                      inQuotes(column.name));
      if (fill == Fill::Previous && row > 0) {
        if (column.text)
          column.categories[at] = column.categories[at - 1];
        else
          column.numbers[at] = column.numbers[at - 1];
      }
    }
  }
  return {};
}

std::string columnList(const CsvTable &table) {
  std::vector<std::string_view> names;
  for (const CsvColumn &column : table.columns)
    names.push_back(column.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

} // namespace

Result<std::unique_ptr<DataSet>> loadTable(const DataSpec &given, const Learned *learned,
                                           const Limits &limits) {
  DataSpec spec = given;
  const std::string &file = spec.files[0].second;
  LSTMC_ASSIGN(Bytes bytes, readSource(spec, file));
  std::vector<ColumnScaling> scaling;
  if (learned && !learned->scaling.empty()) {
    LSTMC_ASSIGN(scaling, parseScaling(learned->scaling, file, limits));
    for (const ColumnScaling &one : scaling)
      if (given.inputs.empty() && (spec.sequence.empty() || one.name != spec.target))
        spec.inputs.push_back(one.name); // in the order of the training data
  }
  CsvOptions options;
  options.missing = spec.missing;
  options.columns = spec.inputs;
  if (!options.columns.empty() && !spec.target.empty() && !spec.unlabelled)
    options.columns.push_back(spec.target);
  if (!options.columns.empty() && !spec.sequence.empty())
    options.columns.push_back(spec.sequence);
  LSTMC_ASSIGN(CsvTable table, parseCsv(bytes, file, options, limits));
  if (spec.target.empty() && table.columns.size() == 1)
    spec.target = table.columns[0].name;
  if (spec.target.empty() && !spec.unlabelled)
    return fail(ErrorCode::E0001, "data {}: found no target=, want the column to predict",
                inQuotes(spec.source));
  if (!spec.unlabelled && !table.find(spec.target))
    return failAt({file, 1, 1}, ErrorCode::E0610, "column {}: found none, want the target among {}",
                  inQuotes(spec.target), columnList(table));
  if (!spec.sequence.empty())
    return sequencesOf(spec, std::move(table), std::move(scaling), sha256(bytes));
  LSTMC_TRY(treatMissing(table, spec.fill));
  if (scaling.empty())
    scaling = learnScaling(table, splitPoint(table.rows, spec.valid));
  return std::unique_ptr<DataSet>(
      new TableData(spec, std::move(table), std::move(scaling), sha256(bytes)));
}

} // namespace lstmc::data
