// A table whose rows are of sequences of different lengths: `csv:FILE,sequence=ID`.
#include <algorithm>
#include <cmath>
#include <set>

#include "executor/base/Quote.h"
#include "executor/data/Elements.h"
#include "executor/data/Sequences.h"
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
class TableWriter : public SequenceWriter {
public:
  TableWriter(const CsvTable &table, std::vector<Feature> features, Feature target,
              std::shared_ptr<const std::vector<Sequence>> sequences, int64_t batch,
              SequenceSlots slots)
      : table_(table), features_(std::move(features)), target_(std::move(target)),
        sequences_(std::move(sequences)), batch_(batch), slots_(std::move(slots)) {}

  Status write(int64_t number, int64_t n) override {
    const Sequence &sequence = (*sequences_)[size_t(number)];
    if (slots_.length && slots_.length->rows.has(n))
      write(*slots_.length, n, [&](int64_t) { return double(sequence.count); });
    const bool data = slots_.data.rows.has(n), label = slots_.label && slots_.label->rows.has(n);
    if (!data && !label)
      return {};
    LSTMC_ASSIGN(const double *cells, table_.read(sequence.first, sequence.count, buffer_));
    if (data)
      fillData(cells, sequence.count, n);
    if (label)
      fillLabel(*slots_.label, cells, sequence.count, n);
    return {};
  }

private:
  const double *row(const double *cells, int64_t number) const {
    return cells + size_t(number) * table_.columns.size();
  }

  template <typename Value> void write(const InputSlot &slot, int64_t n, Value value) {
    const Tensor &to = slot.tensor;
    const int64_t base = n * to.strides[size_t(slot.batchAxis)];
    eachIndexBut(to, slot.batchAxis, [&](int64_t number, int64_t offset) {
      writeElement(to.data, to.dtype, base + offset, value(number));
    });
  }

  void fillData(const double *cells, int64_t count, int64_t n) {
    values_.clear();
    for (int64_t t = 0; t < count; ++t)
      for (const Feature &feature : features_)
        feature.append(row(cells, t), values_);
    write(slots_.data, n,
          [&](int64_t at) { return at < int64_t(values_.size()) ? values_[size_t(at)] : 0.0; });
  }

  /// After the end of a sequence stands the label that the head ignores, else 0.
  void fillLabel(const InputSlot &slot, const double *cells, int64_t count, int64_t n) {
    const bool each = slot.tensor.elements() / batch_ > 1;
    const double padding = slot.range && slot.range->ignored ? double(*slot.range->ignored) : 0.0;
    write(slot, n, [&](int64_t at) {
      if (!each)
        return target_.label(row(cells, count - 1));
      return at < count ? target_.label(row(cells, at)) : padding;
    });
  }

  const CsvTable &table_;
  std::vector<Feature> features_;
  Feature target_;
  std::shared_ptr<const std::vector<Sequence>> sequences_;
  int64_t batch_;
  SequenceSlots slots_;
  std::vector<double> values_; ///< of a sequence
  Bytes buffer_;               ///< rows that were read last
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
    return feedOf(part, slots, spec_.shuffle && part == Part::Train, seed, /*all=*/false);
  }

  Result<std::unique_ptr<BucketFeed>> bucketFeed(const std::vector<std::vector<InputSlot>> &slots,
                                                 uint64_t seed) const override {
    LSTMC_ASSIGN(int64_t batch, batchExtent(slots[0]));
    const auto every = sequencesIn(Part::Train);
    const std::vector<int64_t> steps = stepsOf(*every);
    ChosenSequences chosen = chooseSequences(steps, spec_.buckets.back(), "sequences");
    std::vector<std::unique_ptr<SequenceWriter>> writers;
    for (const std::vector<InputSlot> &each : slots) {
      LSTMC_ASSIGN(Filled filled, filledBy(each, batch));
      LSTMC_TRY(checkValues(*every, chosen, filled));
      writers.push_back(writerOf(std::move(filled), every, batch));
    }
    return data::bucketFeed(std::move(writers), spec_.buckets, steps, std::move(chosen), batch,
                            spec_.shuffle, seed);
  }

  Result<Samples> samples(std::vector<InputSlot> slots, bool) const override {
    Samples all;
    all.count = int64_t(sequences_.size());
    LSTMC_ASSIGN(all.feed, feedOf(Part::All, slots, false, 0, /*all=*/true));
    for (const Sequence &sequence : sequences_)
      all.rows.push_back(sequence.first + sequence.count);
    return all;
  }

  std::optional<Target> target() const override { return targetOf(scaling_, spec_.target); }

  Learned learned() const override { return {std::nullopt, std::nullopt, scalingText(scaling_)}; }

private:
  /// The slots, and what is written to them.
  struct Filled {
    SequenceSlots slots;
    std::vector<Feature> features;
    Feature target;
    int64_t steps = 0;
  };

  Result<Filled> filledBy(const std::vector<InputSlot> &slots, int64_t batch) const {
    Filled filled;
    LSTMC_ASSIGN(filled.slots, slotsOf(slots, batch));
    int64_t width = 0;
    for (const std::string &name : inputColumns()) {
      LSTMC_ASSIGN(filled.features.emplace_back(), featureOf(table_, scaling_, name));
      width += filled.features.back().width();
    }
    if (filled.slots.label) {
      LSTMC_ASSIGN(filled.target, featureOf(table_, scaling_, spec_.target));
    }
    LSTMC_ASSIGN(filled.steps, stepsOf(filled.slots, batch, width));
    return filled;
  }

  std::unique_ptr<SequenceWriter>
  writerOf(Filled filled, std::shared_ptr<const std::vector<Sequence>> every, int64_t batch) const {
    return std::make_unique<TableWriter>(table_, std::move(filled.features),
                                         std::move(filled.target), std::move(every), batch,
                                         std::move(filled.slots));
  }

  std::shared_ptr<const std::vector<Sequence>> sequencesIn(Part part) const {
    const int64_t count = int64_t(sequences_.size()), split = splitPoint(count, spec_.valid);
    return std::make_shared<const std::vector<Sequence>>(
        sequences_.begin() + (part == Part::Valid ? split : 0),
        sequences_.begin() + (part == Part::Train ? split : count));
  }

  static std::vector<int64_t> stepsOf(const std::vector<Sequence> &sequences) {
    std::vector<int64_t> steps;
    for (const Sequence &sequence : sequences)
      steps.push_back(sequence.count);
    return steps;
  }

  /// `all`: no sequence may be left out.
  Result<std::unique_ptr<Feed>> feedOf(Part part, const std::vector<InputSlot> &slots,
                                       bool shuffles, uint64_t seed, bool all) const {
    LSTMC_ASSIGN(int64_t batch, batchExtent(slots));
    LSTMC_ASSIGN(Filled filled, filledBy(slots, batch));
    const auto every = sequencesIn(part);
    ChosenSequences chosen = chooseSequences(stepsOf(*every), filled.steps, "sequences");
    if (chosen.longer > 0 && (all || spec_.buckets.empty()))
      return tooLong(*every, filled);
    LSTMC_TRY(checkValues(*every, chosen, filled));
    if (batchesOf(chosen.count(), batch, part) < 1)
      return failAt({table_.file}, ErrorCode::E0605,
                    "sequences: found {} in this part, want at least {}", chosen.count(),
                    part == Part::Train ? fmt::format("one batch of {}", batch) : "1");
    auto make = [&](const std::vector<InputSlot> &to) -> Result<std::unique_ptr<Feed>> {
      LSTMC_ASSIGN(Filled here, filledBy(to, batch));
      return sequenceFeed(writerOf(std::move(here), every, batch), std::move(chosen), batch, part,
                          shuffles, seed);
    };
    return table_.cells.inMemory() ? make(slots) : readAhead(slots, make);
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

  Error tooLong(const std::vector<Sequence> &sequences, const Filled &filled) const {
    const Sequence &sequence = *std::ranges::find_if(
        sequences, [&](const Sequence &one) { return one.count > filled.steps; });
    return failAt({table_.file, table_.lineOf(sequence.first), 1}, ErrorCode::E0605,
                  "sequence: found {} rows, want at most the {} steps of input {}", sequence.count,
                  filled.steps, inQuotes(filled.slots.data.name));
  }

  /// Whether the values of the sequences are in the ranges of the inputs.
  Status checkValues(const std::vector<Sequence> &sequences, const ChosenSequences &chosen,
                     const Filled &filled) const {
    const SequenceSlots &slots = filled.slots;
    for (int64_t number : chosen.numbers) {
      const Sequence &sequence = sequences[size_t(number)];
      const int64_t end = sequence.first + sequence.count;
      if (slots.data.range)
        LSTMC_TRY(checkRange(table_, slots.data, filled.features, sequence.first, end));
      if (slots.label && slots.label->range)
        LSTMC_TRY(checkRange(table_, *slots.label, {&filled.target, 1}, sequence.first, end));
    }
    return {};
  }

  CsvTable table_;
  std::vector<Sequence> sequences_;
  std::vector<ColumnScaling> scaling_;
};

/// Adjacent rows whose cells in the column are equal. E0607 for a name that comes again later, and
/// for a cell that is missing.
Result<std::vector<Sequence>> cut(const CsvTable &table, const CsvColumn &column) {
  const auto number = size_t(&column - table.columns.data());
  std::vector<Sequence> sequences;
  std::set<double> seen;
  double before = 0;
  LSTMC_TRY(table.eachRow(0, table.rows, [&](int64_t row, const double *cells) -> Status {
    const double name = cells[number];
    if (std::isnan(name))
      return failAt({table.file, table.lineOf(row), 1}, ErrorCode::E0607,
                    "column {}: found a missing cell, want the sequence of the row",
                    inQuotes(column.name));
    if (row > 0 && name == before) {
      ++sequences.back().count;
      return {};
    }
    if (!seen.insert(name).second)
      return failAt({table.file, table.lineOf(row), 1}, ErrorCode::E0607,
                    "column {}: found a sequence that ended before, want its rows one after "
                    "another",
                    inQuotes(column.name));
    sequences.push_back({row, 1});
    before = name;
    return {};
  }));
  return sequences;
}

/// The column and row of the first missing cell of the rows [begin, end), column by column.
Result<std::optional<std::pair<const CsvColumn *, int64_t>>>
firstMissing(const CsvTable &table, int64_t begin, int64_t end) {
  std::optional<std::pair<const CsvColumn *, int64_t>> found;
  size_t checked = table.columns.size(); // columns before that of `found`
  LSTMC_TRY(table.eachRow(begin, end, [&](int64_t row, const double *cells) -> Status {
    for (size_t i = 0; i < checked; ++i)
      if (std::isnan(cells[i])) {
        found.emplace(&table.columns[i], row);
        checked = i;
      }
    return {};
  }));
  return found;
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
    LSTMC_ASSIGN(auto missing,
                 firstMissing(table, sequence.first, sequence.first + sequence.count));
    if (missing && spec.fill == Fill::Refuse)
      return failAt({table.file, table.lineOf(missing->second), 1}, ErrorCode::E0607,
                    "column {}: found a missing cell; fill=drop leaves its sequence out",
                    inQuotes(missing->first->name));
    if (!missing)
      whole.push_back(sequence);
  }
  if (scaling.empty()) {
    const int64_t split = splitPoint(int64_t(whole.size()), spec.valid);
    const int64_t rows =
        split > 0 ? whole[size_t(split - 1)].first + whole[size_t(split - 1)].count : table.rows;
    LSTMC_ASSIGN(scaling, learnScaling(table, rows));
    std::erase_if(scaling, [&](const ColumnScaling &one) { return one.name == spec.sequence; });
  }
  return std::unique_ptr<DataSet>(new SequenceData(spec, std::move(table), std::move(whole),
                                                   std::move(scaling), std::move(digest)));
}

} // namespace lstmc::data
