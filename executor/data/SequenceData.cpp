// A table whose rows are of sequences of different lengths: `csv:FILE,sequence=ID`.
#include <algorithm>
#include <cmath>
#include <set>

#include "executor/base/Quote.h"
#include "executor/data/Elements.h"
#include "executor/data/Shuffle.h"
#include "executor/data/Sources.h"
#include "executor/data/TableColumns.h"

namespace lstmc::data {
namespace {

/// Rows [first, first + count) of the table.
struct Sequence {
  int64_t first = 0, count = 0;
};

struct SequenceSlots {
  InputSlot data;
  std::optional<InputSlot> label, length;
};

/// Sequences [steps, features], filled up with zeros, their lengths, and the target of each row or
/// of the last.
class SequenceFeed : public Feed {
public:
  SequenceFeed(std::vector<Feature> features, Feature target, std::vector<Sequence> sequences,
               int64_t batch, Part part, SequenceSlots slots, SampleOrder order)
      : features_(std::move(features)), target_(std::move(target)),
        sequences_(std::move(sequences)), batch_(batch), part_(part), slots_(std::move(slots)),
        order_(std::move(order)) {}

  int64_t batches() const override { return batchesOf(order_.count(), batch_, part_); }
  int64_t sequences() const override { return batch_; }
  int64_t rows(const Position &position) const override {
    return rowsOf(order_.count(), batch_, position.batch);
  }
  std::string leftOut() const override {
    return samplesLeftOut(order_.count(), batch_, part_, "sequences");
  }
  bool restarts(const Position &) const override { return true; }

  Status fill(const Position &position) override {
    for (int64_t n = 0; n < batch_; ++n) {
      const int64_t number = std::min(position.batch * batch_ + n, order_.count() - 1);
      const Sequence &sequence = sequences_[size_t(order_.at(position.epoch, number))];
      values_.clear();
      for (int64_t t = 0; t < sequence.count; ++t)
        for (const Feature &feature : features_)
          feature.append(sequence.first + t, values_);
      write(slots_.data, n,
            [&](int64_t at) { return at < int64_t(values_.size()) ? values_[size_t(at)] : 0.0; });
      if (slots_.length)
        write(*slots_.length, n, [&](int64_t) { return double(sequence.count); });
      if (slots_.label)
        fillLabel(*slots_.label, sequence, n);
    }
    return {};
  }

private:
  template <typename Value> void write(const InputSlot &slot, int64_t n, Value value) {
    const Tensor &to = slot.tensor;
    const int64_t base = n * to.strides[size_t(slot.batchAxis)];
    eachIndexBut(to, slot.batchAxis, [&](int64_t number, int64_t offset) {
      writeElement(to.data, to.dtype, base + offset, value(number));
    });
  }

  /// After the end of a sequence stands the label that the head ignores, else 0.
  void fillLabel(const InputSlot &slot, const Sequence &sequence, int64_t n) {
    const bool each = slot.tensor.elements() / batch_ > 1;
    const double padding = slot.range && slot.range->ignored ? double(*slot.range->ignored) : 0.0;
    write(slot, n, [&](int64_t at) {
      if (!each)
        return target_.label(sequence.first + sequence.count - 1);
      return at < sequence.count ? target_.label(sequence.first + at) : padding;
    });
  }

  std::vector<Feature> features_;
  Feature target_;
  std::vector<Sequence> sequences_;
  int64_t batch_;
  Part part_;
  SequenceSlots slots_;
  SampleOrder order_;
  std::vector<double> values_;
};

class SequenceData : public DataSet {
public:
  SequenceData(const DataSpec &spec, CsvTable table, std::vector<Sequence> sequences,
               std::vector<ColumnScaling> scaling, std::string digest)
      : DataSet(spec), table_(std::move(table)), sequences_(std::move(sequences)),
        scaling_(std::move(scaling)) {
    digest_ = std::move(digest);
  }

  Result<std::unique_ptr<Feed>> feed(Part part, std::vector<InputSlot> slots,
                                     uint64_t seed) const override {
    const int64_t count = int64_t(sequences_.size()), split = splitPoint(count, spec_.valid);
    const int64_t begin = part == Part::Valid ? split : 0;
    const int64_t end = part == Part::Train ? split : count;
    return feedOf(part, begin, end, slots, spec_.shuffle && part == Part::Train, seed);
  }

  Result<Samples> samples(std::vector<InputSlot> slots, bool) const override {
    Samples all;
    all.count = int64_t(sequences_.size());
    LSTMC_ASSIGN(all.feed, feedOf(Part::All, 0, all.count, slots, false, 0));
    for (const Sequence &sequence : sequences_)
      all.rows.push_back(sequence.first + sequence.count);
    return all;
  }

  std::optional<Target> target() const override { return targetOf(scaling_, spec_.target); }

  Learned learned() const override { return {std::nullopt, std::nullopt, scalingText(scaling_)}; }

private:
  Result<std::unique_ptr<Feed>> feedOf(Part part, int64_t begin, int64_t end,
                                       const std::vector<InputSlot> &slots, bool shuffles,
                                       uint64_t seed) const {
    LSTMC_ASSIGN(int64_t batch, batchExtent(slots));
    LSTMC_ASSIGN(SequenceSlots found, slotsOf(slots, batch));
    std::vector<Feature> features;
    int64_t width = 0;
    for (const std::string &name : inputColumns()) {
      LSTMC_ASSIGN(features.emplace_back(), featureOf(table_, scaling_, name));
      width += features.back().width();
    }
    Feature target;
    if (found.label) {
      LSTMC_ASSIGN(target, featureOf(table_, scaling_, spec_.target));
    }
    LSTMC_ASSIGN(int64_t steps, stepsOf(found, batch, width));
    std::vector<Sequence> chosen(sequences_.begin() + begin, sequences_.begin() + end);
    for (const Sequence &sequence : chosen)
      LSTMC_TRY(checkSequence(sequence, steps, found, features, target));
    if (batchesOf(int64_t(chosen.size()), batch, part) < 1)
      return failAt({table_.file}, ErrorCode::E0605,
                    "sequences: found {} in this part, want at least {}", chosen.size(),
                    part == Part::Train ? fmt::format("one batch of {}", batch) : "1");
    SampleOrder order(int64_t(chosen.size()), shuffles, seed);
    return std::unique_ptr<Feed>(new SequenceFeed(std::move(features), std::move(target),
                                                  std::move(chosen), batch, part, std::move(found),
                                                  std::move(order)));
  }

  /// The input called length is filled with lengths; one other input with the rows.
  Result<SequenceSlots> slotsOf(const std::vector<InputSlot> &slots, int64_t batch) const {
    SequenceSlots found;
    std::vector<InputSlot> others;
    for (const InputSlot &slot : slots)
      if (slot.name == "length" && slot.tensor.elements() == batch)
        found.length = slot;
      else
        others.push_back(slot);
    LSTMC_ASSIGN(DataAndLabel rest, dataAndLabel(others, DataKind::Csv));
    found.data = *rest.data;
    if (rest.label)
      found.label = *rest.label;
    return found;
  }

  std::vector<std::string> inputColumns() const {
    if (!spec_.inputs.empty())
      return spec_.inputs;
    std::vector<std::string> names;
    for (const CsvColumn &column : table_.columns)
      if (column.name != spec_.sequence && column.name != spec_.target)
        names.push_back(column.name);
    return names;
  }

  Result<int64_t> stepsOf(const SequenceSlots &slots, int64_t batch, int64_t width) const {
    const Tensor &tensor = slots.data.tensor;
    const int64_t values = tensor.elements() / batch;
    if (tensor.rank != 3 || tensor.shape[2] != width || !isFloat(tensor.dtype))
      return failAt({table_.file}, ErrorCode::E0605,
                    "input {}: found {} {}, want floats [batch, steps, {}] for sequences of {} "
                    "features",
                    inQuotes(slots.data.name), dtypeName(tensor.dtype), shapeText(shapeOf(tensor)),
                    width, width);
    const int64_t steps = values / width;
    if (slots.label) {
      const int64_t labels = slots.label->tensor.elements() / batch;
      if (labels != 1 && labels != steps)
        return failAt({table_.file}, ErrorCode::E0605,
                      "input {}: found {} values a sequence, want 1 or {}, one a step",
                      inQuotes(slots.label->name), labels, steps);
    }
    return steps;
  }

  Status checkSequence(const Sequence &sequence, int64_t steps, const SequenceSlots &slots,
                       const std::vector<Feature> &features, const Feature &target) const {
    const int64_t end = sequence.first + sequence.count;
    if (sequence.count > steps)
      return failAt({table_.file, table_.lineOf(sequence.first), 1}, ErrorCode::E0605,
                    "sequence: found {} rows, want at most the {} steps of input {}",
                    sequence.count, steps, inQuotes(slots.data.name));
    if (slots.data.range)
      for (const Feature &feature : features)
        LSTMC_TRY(checkRange(table_, slots.data, feature, sequence.first, end));
    if (slots.label && slots.label->range)
      LSTMC_TRY(checkRange(table_, *slots.label, target, sequence.first, end));
    return {};
  }

  CsvTable table_;
  std::vector<Sequence> sequences_;
  std::vector<ColumnScaling> scaling_;
};

bool isMissing(const CsvColumn &column, int64_t row) {
  return column.text ? column.categories[size_t(row)] < 0 : std::isnan(column.numbers[size_t(row)]);
}

/// Adjacent rows whose cells in the column are equal. E0607 for a name that comes again later, and
/// for a cell that is missing.
Result<std::vector<Sequence>> cut(const CsvTable &table, const CsvColumn &column) {
  std::vector<Sequence> sequences;
  std::set<double> seen;
  auto nameOf = [&](int64_t row) {
    return column.text ? double(column.categories[size_t(row)]) : column.numbers[size_t(row)];
  };
  for (int64_t row = 0; row < table.rows; ++row) {
    if (isMissing(column, row))
      return failAt({table.file, table.lineOf(row), 1}, ErrorCode::E0607,
                    "column {}: found a missing cell, want the sequence of the row",
                    inQuotes(column.name));
    if (row > 0 && nameOf(row) == nameOf(row - 1)) {
      ++sequences.back().count;
      continue;
    }
    if (!seen.insert(nameOf(row)).second)
      return failAt({table.file, table.lineOf(row), 1}, ErrorCode::E0607,
                    "column {}: found a sequence that ended before, want its rows one after "
                    "another",
                    inQuotes(column.name));
    sequences.push_back({row, 1});
  }
  return sequences;
}

} // namespace

Result<std::unique_ptr<DataSet>> sequencesOf(const DataSpec &spec, CsvTable table,
                                             std::vector<ColumnScaling> scaling,
                                             std::string digest) {
  const CsvColumn *name = table.find(spec.sequence);
  if (!name)
    return failAt({table.file, 1, 1}, ErrorCode::E0610, "column {}: found none, want the sequences",
                  inQuotes(spec.sequence));
  if (spec.fill == Fill::Previous || spec.window != 0 || spec.horizon != 1)
    return fail(
        ErrorCode::E0001,
        "data {}: found {}, which is of windows, want none with sequence=", inQuotes(spec.source),
        spec.window         ? "window="
        : spec.horizon != 1 ? "horizon="
                            : "fill=previous");
  LSTMC_ASSIGN(std::vector<Sequence> sequences, cut(table, *name));
  std::vector<Sequence> whole;
  for (const Sequence &sequence : sequences) {
    bool complete = true;
    for (const CsvColumn &column : table.columns)
      for (int64_t row = sequence.first; row < sequence.first + sequence.count; ++row)
        if (isMissing(column, row)) {
          if (spec.fill == Fill::Refuse)
            return failAt({table.file, table.lineOf(row), 1}, ErrorCode::E0607,
                          "column {}: found a missing cell; fill=drop leaves its sequence out",
                          inQuotes(column.name));
          complete = false;
        }
    if (complete)
      whole.push_back(sequence);
  }
  if (scaling.empty()) {
    const int64_t split = splitPoint(int64_t(whole.size()), spec.valid);
    const int64_t rows =
        split > 0 ? whole[size_t(split - 1)].first + whole[size_t(split - 1)].count : table.rows;
    scaling = learnScaling(table, rows);
    std::erase_if(scaling, [&](const ColumnScaling &one) { return one.name == spec.sequence; });
  }
  return std::unique_ptr<DataSet>(new SequenceData(spec, std::move(table), std::move(whole),
                                                   std::move(scaling), std::move(digest)));
}

} // namespace lstmc::data
