#include <algorithm>
#include <deque>

#include <fmt/ranges.h>

#include "executor/base/Quote.h"
#include "executor/base/Sha256.h"
#include "executor/data/Array.h"
#include "executor/data/Elements.h"
#include "executor/data/Runs.h"
#include "executor/data/Shuffle.h"
#include "executor/data/Sources.h"
#include "executor/data/TableColumns.h"

namespace lstmc::data {
namespace {

/// Windows of rows [window, features], with the target `horizon` rows after the last row.
class TableFeed : public Feed {
public:
  TableFeed(const CsvTable &table, std::vector<Feature> features, Feature target, int64_t window,
            int64_t horizon, Runs starts, int64_t batch, Part part, DataAndLabel slots,
            SampleOrder order)
      : table_(table), features_(std::move(features)), target_(std::move(target)), window_(window),
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
  bool restarts(const Position &position) const override {
    return order_.shuffles() || position.batch == 0;
  }
  std::string whyIndependent() const override { return order_.whyIndependent("windows"); }
  std::string carriedRemark() const override {
    return batch_ == window_
               ? ""
               : fmt::format(
                     "row i of a batch begins {} rows of the table after row i of the batch "
                     "before, and a window has {}: it continues the other with a batch of {}",
                     batch_, window_, window_);
  }

  Status fill(const Position &position) override {
    for (int64_t n = 0; n < batch_; ++n) {
      int64_t number = std::min(position.batch * batch_ + n, order_.count() - 1);
      int64_t start = starts_[order_.at(position.epoch, number)];
      if (data_.rows.has(n))
        LSTMC_TRY(fillData(start, n));
      if (label_ && label_->rows.has(n))
        LSTMC_TRY(fillLabel(start, n));
    }
    return {};
  }

private:
  /// Writes the features of the window's rows one after the other, along the slot's other axes.
  Status fillData(int64_t start, int64_t n) {
    LSTMC_ASSIGN(const double *cells, table_.read(start, window_, buffer_));
    values_.clear();
    for (int64_t t = 0; t < window_; ++t, cells += table_.columns.size()) {
      for (const Feature &feature : features_)
        feature.append(cells, values_);
    }
    const Tensor &to = data_.tensor;
    int64_t base = n * to.strides[size_t(data_.batchAxis)];
    eachIndexBut(to, data_.batchAxis, [&](int64_t number, int64_t offset) {
      writeElement(to.data, to.dtype, base + offset, values_[size_t(number)]);
    });
    return {};
  }

  /// The target: one value after the window, or one per step, each after its own row.
  Status fillLabel(int64_t start, int64_t n) {
    const Tensor &to = label_->tensor;
    int64_t base = n * to.strides[size_t(label_->batchAxis)];
    int64_t values = to.elements() / batch_;
    int64_t first = start + horizon_ + (values == 1 ? window_ - 1 : 0);
    LSTMC_ASSIGN(const double *cells, table_.read(first, values, buffer_));
    eachIndexBut(to, label_->batchAxis, [&](int64_t number, int64_t offset) {
      const double *row = cells + size_t(number) * table_.columns.size();
      writeElement(to.data, to.dtype, base + offset, target_.label(row));
    });
    return {};
  }

  const CsvTable &table_;
  std::vector<Feature> features_;
  Feature target_;
  int64_t window_, horizon_;
  Runs starts_; ///< first rows of the windows
  int64_t batch_;
  Part part_;
  InputSlot data_;
  std::optional<InputSlot> label_;
  SampleOrder order_;
  std::vector<double> values_; ///< of a window
  Bytes buffer_;               ///< rows that were read last
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
    LSTMC_ASSIGN(Runs starts, windowStarts(features, &target, begin, end, window));
    if (batchesOf(starts.size(), batch, part) < 1)
      return tooFewWindows(starts, begin, end,
                           part == Part::Train ? fmt::format("one batch of {}", batch) : "1");
    if (filled.label && filled.label->range)
      LSTMC_TRY(checkRange(table_, *filled.label, {&target, 1}, begin, end));
    if (filled.data->range)
      LSTMC_TRY(checkRange(table_, *filled.data, features, begin, end));
    SampleOrder order(starts.size(), spec_.shuffle && part == Part::Train, seed);
    return feedOf(std::move(slots), [&](DataAndLabel to) {
      return new TableFeed(table_, std::move(features), std::move(target), window, spec_.horizon,
                           std::move(starts), batch, part, to, std::move(order));
    });
  }

  Result<Samples> samples(std::vector<InputSlot> slots, bool) const override {
    LSTMC_ASSIGN(DataAndLabel filled, dataAndLabel(slots, DataKind::Csv));
    LSTMC_ASSIGN(int64_t batch, batchExtent(slots));
    LSTMC_ASSIGN(std::vector<Feature> features, inputFeatures());
    LSTMC_ASSIGN(int64_t window, windowOf(*filled.data, batch, features));
    LSTMC_ASSIGN(Runs starts, windowStarts(features, nullptr, 0, table_.rows, window));
    if (starts.size() == 0)
      return tooFewWindows(starts, 0, table_.rows, "1");
    if (filled.data->range)
      LSTMC_TRY(checkRange(table_, *filled.data, features, 0, table_.rows));
    Samples all;
    all.count = starts.size();
    for (int64_t i = 0; i < all.count; ++i)
      all.rows.push_back(starts[i] + window + spec_.horizon);
    LSTMC_ASSIGN(all.feed, feedOf(std::move(slots), [&](DataAndLabel to) {
                   return new TableFeed(table_, std::move(features), Feature(), window,
                                        spec_.horizon, std::move(starts), batch, Part::All, to,
                                        SampleOrder(all.count, /*shuffle=*/false, /*seed=*/0));
                 }));
    return all;
  }

  std::optional<Target> target() const override { return targetOf(scaling_, spec_.target); }

  Learned learned() const override { return {std::nullopt, std::nullopt, scalingText(scaling_)}; }

private:
  /// The feed that `make` makes for the slots, read ahead if the cells are in a file.
  template <typename Make>
  Result<std::unique_ptr<Feed>> feedOf(std::vector<InputSlot> slots, Make make) const {
    auto makeFor = [&](const std::vector<InputSlot> &to) -> Result<std::unique_ptr<Feed>> {
      LSTMC_ASSIGN(DataAndLabel filled, dataAndLabel(to, DataKind::Csv));
      return std::unique_ptr<Feed>(make(filled));
    };
    return table_.cells.inMemory() ? makeFor(slots) : readAhead(std::move(slots), makeFor);
  }

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

  Error tooFewWindows(const Runs &starts, int64_t begin, int64_t end, std::string_view want) const {
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
  Result<Runs> windowStarts(const std::vector<Feature> &features, const Feature *target,
                            int64_t begin, int64_t end, int64_t window) const {
    const int64_t horizon = target ? spec_.horizon : 0;
    Runs starts;
    // The first rows from which all rows up to `row` are complete, and all their targets.
    int64_t wholeFrom = begin, labelledFrom = begin;
    std::deque<int64_t> incomplete; // rows after `row`, which the targets are ahead of
    LSTMC_TRY(table_.eachRow(begin, end, [&](int64_t read, const double *cells) -> Status {
      if (std::ranges::any_of(features, [&](const Feature &one) { return one.missing(cells); }))
        incomplete.push_back(read);
      const int64_t row = read - horizon;
      if (row < begin)
        return {};
      for (; !incomplete.empty() && incomplete.front() <= row; incomplete.pop_front())
        wholeFrom = incomplete.front() + 1;
      if (target && target->missing(cells))
        labelledFrom = row + 1;
      if (row + 1 - std::max(wholeFrom, labelledFrom) >= window)
        starts.add(row + 1 - window);
      return {};
    }));
    return starts;
  }

  CsvTable table_;
  std::vector<ColumnScaling> scaling_;
};

Status refuseMissing(const CsvTable &table) {
  for (const CsvColumn &column : table.columns)
    if (column.missing > 0)
      return failAt({table.file, table.lineOf(column.firstMissing), 1}, ErrorCode::E0607,
                    "column {}: found a missing cell; fill=previous or fill=drop says what to do",
                    inQuotes(column.name));
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
  if (!spec.buckets.empty() && spec.sequence.empty())
    return fail(ErrorCode::E0001,
                "data {}: found buckets= for windows of rows, want sequence=COLUMN, which says "
                "what rows are a sequence",
                inQuotes(spec.source));
  const std::string &file = spec.files[0].second;
  LSTMC_ASSIGN(StoredBytes bytes, readSource(spec, file, limits.dataMemory));
  Sha256 digest;
  LSTMC_TRY(addTo(digest, bytes));
  std::vector<ColumnScaling> scaling;
  if (learned && !learned->scaling.empty()) {
    LSTMC_ASSIGN(scaling, parseScaling(learned->scaling, file, limits));
    for (const ColumnScaling &one : scaling)
      if (given.inputs.empty() && (spec.sequence.empty() || one.name != spec.target))
        spec.inputs.push_back(one.name); // in the order of the training data
  }
  CsvOptions options;
  options.missing = spec.missing;
  options.fillsPrevious = spec.fill == Fill::Previous;
  options.columns = spec.inputs;
  if (!options.columns.empty() && !spec.target.empty() && !spec.unlabelled)
    options.columns.push_back(spec.target);
  if (!options.columns.empty() && !spec.sequence.empty())
    options.columns.push_back(spec.sequence);
  LSTMC_ASSIGN(CsvTable table, readCsv(std::move(bytes), file, options, limits));
  if (spec.target.empty() && table.columns.size() == 1)
    spec.target = table.columns[0].name;
  if (spec.target.empty() && !spec.unlabelled)
    return fail(ErrorCode::E0001, "data {}: found no target=, want the column to predict",
                inQuotes(spec.source));
  if (!spec.unlabelled && !table.find(spec.target))
    return failAt({file, 1, 1}, ErrorCode::E0610, "column {}: found none, want the target among {}",
                  inQuotes(spec.target), columnList(table));
  if (!spec.sequence.empty())
    return sequencesOf(spec, std::move(table), std::move(scaling), digest.finish());
  if (spec.fill == Fill::Refuse)
    LSTMC_TRY(refuseMissing(table));
  if (scaling.empty()) {
    LSTMC_ASSIGN(scaling, learnScaling(table, splitPoint(table.rows, spec.valid)));
  }
  return std::unique_ptr<DataSet>(
      new TableData(spec, std::move(table), std::move(scaling), digest.finish()));
}

} // namespace lstmc::data
