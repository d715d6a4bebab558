#include "executor/data/CalledData.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "executor/base/Quote.h"
#include "executor/base/Sha256.h"
#include "executor/data/Elements.h"
#include "executor/data/Outside.h"
#include "executor/data/Shuffle.h"
#include "executor/data/Sources.h"

namespace lstmc::data {
namespace {

DataSpec specNamed(std::string source) {
  DataSpec spec;
  spec.source = std::move(source);
  return spec;
}

std::string digestOf(std::string_view what) { return sha256(asBytes(what)); }

/// What the program has filled: every input, with values that the network accepts.
Status checkFilled(std::span<const CalledInput> inputs, std::string_view what, int64_t number) {
  for (const CalledInput &input : inputs) {
    const InputSlot &slot = *input.slot;
    if (!input.asked)
      return fail(ErrorCode::E0001, "{} {}: input {} was not given", what, number,
                  inQuotes(slot.name));
    if (!slot.range)
      continue;
    const Tensor &tensor = input.tensor;
    if (const std::optional<int64_t> at =
            firstOutside(tensor.as<uint8_t>(), tensor.dtype, tensor.elements(), *slot.range))
      return fail(ErrorCode::E0604, "{} {}, input {}{}: found {}, want {}", what, number,
                  inQuotes(slot.name), placeText(shapeOf(tensor), *at),
                  readElement<double>(tensor.data, tensor.dtype, *at), slot.range->text());
  }
  return {};
}

/// Dense memory with the shape of a slot, or of one of its rows.
struct Staged {
  Bytes bytes;
  Tensor tensor;

  Staged(const InputSlot &slot, bool row) {
    std::vector<int64_t> shape(shapeOf(slot.tensor).begin(), shapeOf(slot.tensor).end());
    if (row)
      shape.erase(shape.begin() + slot.batchAxis);
    int64_t elements = 1;
    for (int64_t extent : shape)
      elements *= extent;
    bytes.resize(size_t(elements) * dtypeBytes(slot.tensor.dtype));
    tensor = denseTensor(bytes.data(), slot.tensor.dtype, shape);
  }
};

/// Copies a row from dense memory of its shape.
void copyRow(const Tensor &from, const InputSlot &slot, int64_t row) {
  const Tensor &to = slot.tensor;
  const size_t width = dtypeBytes(to.dtype);
  const int64_t begin = row * to.strides[size_t(slot.batchAxis)];
  eachIndexBut(to, slot.batchAxis, [&](int64_t number, int64_t offset) {
    std::memcpy(to.as<uint8_t>() + size_t(begin + offset) * width,
                from.as<uint8_t>() + size_t(number) * width, width);
  });
}

// ---- samples ----

class SampleFeed : public Feed {
public:
  SampleFeed(const CalledSamples &source, std::vector<InputSlot> slots, int64_t first, Part part,
             SampleOrder order)
      : source_(source), slots_(std::move(slots)), first_(first), part_(part),
        order_(std::move(order)) {
    for (const InputSlot &slot : slots_)
      staged_.emplace_back(slot, /*row=*/true);
  }

  int64_t batches() const override { return batchesOf(order_.count(), sequences(), part_); }
  int64_t sequences() const override { return slots_[0].tensor.shape[size_t(slots_[0].batchAxis)]; }
  int64_t rows(const Position &at) const override {
    return rowsOf(order_.count(), sequences(), at.batch);
  }
  std::string leftOut() const override {
    return samplesLeftOut(order_.count(), sequences(), part_, "samples");
  }
  bool restarts(const Position &at) const override { return order_.shuffles() || at.batch == 0; }
  std::string whyIndependent() const override { return order_.whyIndependent("samples"); }

  Status fill(const Position &at) override {
    for (int64_t row = 0; row < sequences(); ++row) {
      const int64_t place = std::min(at.batch * sequences() + row, order_.count() - 1);
      LSTMC_TRY(fillRow(first_ + order_.at(at.epoch, place), row));
    }
    return {};
  }

private:
  /// Straight to the network's memory where a row of it is dense.
  Status fillRow(int64_t sample, int64_t row) {
    std::vector<CalledInput> &inputs = inputs_;
    inputs.clear();
    for (size_t i = 0; i < slots_.size(); ++i) {
      const InputSlot &slot = slots_[i];
      Tensor tensor = staged_[i].tensor;
      if (isDirect(slot))
        tensor.data = slot.tensor.as<uint8_t>() +
                      size_t(row * slot.tensor.strides[0]) * dtypeBytes(slot.tensor.dtype);
      inputs.push_back({&slot, tensor});
    }
    LSTMC_TRY(source_.fill(sample, inputs));
    LSTMC_TRY(checkFilled(inputs, "sample", sample));
    for (size_t i = 0; i < slots_.size(); ++i)
      if (!isDirect(slots_[i]))
        copyRow(staged_[i].tensor, slots_[i], row);
    return {};
  }

  static bool isDirect(const InputSlot &slot) { return slot.batchAxis == 0 && slot.tensor.dense(); }

  const CalledSamples &source_;
  std::vector<InputSlot> slots_;
  std::vector<Staged> staged_; ///< a row of each
  std::vector<CalledInput> inputs_;
  int64_t first_;
  Part part_;
  SampleOrder order_;
};

class SampleData : public DataSet {
public:
  explicit SampleData(CalledSamples source)
      : DataSet(specNamed(fmt::format("{} samples of the program", source.count))),
        source_(std::move(source)) {
    spec_.valid = source_.valid;
    spec_.shuffle = source_.shuffle;
    digest_ = digestOf(fmt::format("samples {}", source_.count));
  }

  Result<std::unique_ptr<Feed>> feed(Part part, std::vector<InputSlot> slots,
                                     uint64_t seed) const override {
    LSTMC_ASSIGN(const int64_t batch, batchExtent(slots));
    const int64_t split = splitPoint(source_.count, source_.valid);
    const int64_t begin = part == Part::Valid ? split : 0;
    const int64_t end = part == Part::Train ? split : source_.count;
    if (batchesOf(end - begin, batch, part) < 1)
      return fail(ErrorCode::E0605, "samples: found {} in this part, want at least {}", end - begin,
                  part == Part::Train ? fmt::format("one batch of {}", batch) : "1");
    SampleOrder order(end - begin, source_.shuffle && part == Part::Train, seed);
    return std::unique_ptr<Feed>(
        new SampleFeed(source_, std::move(slots), begin, part, std::move(order)));
  }
  bool fills(const InputSlot &) const override { return true; }

private:
  CalledSamples source_;
};

// ---- batches ----

/// A source at a place. Feeds of one data set share it, for it cannot be read twice.
class Stream {
public:
  explicit Stream(CalledBatches source) : source_(std::move(source)) {}

  const CalledBatches &source() const { return source_; }
  bool seeks() const { return bool(source_.seek); }

  /// Memory for a batch, and the number of batches in an epoch.
  Result<int64_t> prepare(const std::vector<InputSlot> &slots) {
    staged_.clear();
    slots_ = slots;
    for (const InputSlot &slot : slots_)
      staged_.emplace_back(slot, /*row=*/false);
    held_.reset();
    if (seeks() && !first_) {
      LSTMC_ASSIGN(first_, source_.mark());
    }
    if (batches_ == 0) {
      batches_ = source_.batches;
      lastRows_ = source_.lastRows == sequences() ? 0 : source_.lastRows;
    }
    if (batches_ == 0)
      LSTMC_TRY(count());
    return batches_;
  }
  /// Samples of the last batch of an epoch; 0: it is whole.
  int64_t lastRows() const { return lastRows_; }
  int64_t sequences() const { return slots_[0].tensor.shape[size_t(slots_[0].batchAxis)]; }

  /// The batch is in staged().
  Status read(const Position &at) {
    if (held_ && same(*held_, at))
      return {};
    held_.reset();
    if (at.batch != next_ || at.batch == 0)
      LSTMC_TRY(at.batch == 0 ? toEpoch() : cannotGoTo(at));
    if (seeks()) {
      LSTMC_ASSIGN(heldMark_, source_.mark());
    }
    LSTMC_ASSIGN(int64_t rows, next());
    if (rows == 0 && at.batch == 0) { // the end of the epoch before
      LSTMC_ASSIGN(rows, next());
    }
    if (rows == 0)
      return fail(ErrorCode::E0605, "batches: found {} in epoch {}, want {} as in the first",
                  at.batch, at.epoch + 1, batches_);
    LSTMC_TRY(checkFilled(inputs_, "batch", at.batch));
    const int64_t wanted = at.batch + 1 == batches_ && lastRows_ > 0 ? lastRows_ : sequences();
    if (rows != wanted)
      return fail(
          ErrorCode::E0605,
          "batches: found {} samples in batch {} of epoch {}, want {} as in the first epoch", rows,
          at.batch, at.epoch + 1, wanted);
    for (size_t i = 0; rows < sequences() && i < slots_.size(); ++i)
      repeatLast(staged_[i].tensor, size_t(slots_[i].batchAxis), rows);
    held_ = at;
    next_ = at.batch + 1;
    return {};
  }

  /// Where the source was before the batch at that place, which is the one that was read last or
  /// the next.
  Result<std::string> markOf(const Position &at) {
    if (!seeks())
      return std::string();
    if (held_ && same(*held_, at))
      return heldMark_;
    if (at.batch == 0)
      LSTMC_TRY(passLast());
    return source_.mark();
  }
  Status goTo(const Position &at, std::string_view mark) {
    if (!seeks() || mark.empty())
      return cannotGoTo(at);
    LSTMC_TRY(source_.seek(mark));
    held_.reset();
    next_ = at.batch;
    return {};
  }

  const std::vector<Staged> &staged() const { return staged_; }

private:
  static bool same(const Position &a, const Position &b) {
    return a.epoch == b.epoch && a.batch == b.batch;
  }

  static Status cannotGoTo(const Position &at) {
    return fail(ErrorCode::E0610,
                "batches: a source without mark and seek cannot go on at batch {} of epoch {}",
                at.batch, at.epoch + 1);
  }

  /// Samples of the batch that is now in staged(); 0: the epoch is over.
  Result<int64_t> next() {
    inputs_.clear();
    for (size_t i = 0; i < slots_.size(); ++i)
      inputs_.push_back({&slots_[i], staged_[i].tensor});
    LSTMC_ASSIGN(const int64_t rows, source_.next(inputs_));
    return rows == kWholeBatch ? sequences() : rows;
  }

  /// Copies the last of `rows` rows to those after it.
  static void repeatLast(const Tensor &to, size_t axis, int64_t rows) {
    const size_t bytes = size_t(to.strides[axis]) * dtypeBytes(to.dtype);
    const int64_t extent = to.shape[axis], outer = to.elements() / (extent * to.strides[axis]);
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t row = rows; row < extent; ++row)
        std::memcpy(to.as<uint8_t>() + size_t(o * extent + row) * bytes,
                    to.as<uint8_t>() + size_t(o * extent + rows - 1) * bytes, bytes);
  }

  /// Reads a last batch that training leaves out, so that the source is at the end of its epoch.
  Status passLast() {
    if (lastRows_ == 0 || next_ != batches_ - 1)
      return {};
    held_.reset();
    next_ = batches_;
    return next().status();
  }

  /// To the first batch of an epoch. One that was left in its middle is begun anew, or read to its
  /// end.
  Status toEpoch() {
    LSTMC_TRY(passLast());
    if (next_ == 0 || next_ == batches_)
      return {};
    next_ = 0;
    if (seeks())
      return source_.seek(*first_);
    while (true) {
      LSTMC_ASSIGN(const int64_t rows, next());
      if (rows == 0)
        return {};
    }
  }

  Status count() {
    int64_t batches = 0, lastRows = 0;
    while (true) {
      LSTMC_ASSIGN(const int64_t rows, next());
      if (rows == 0)
        break;
      if (lastRows > 0)
        return fail(ErrorCode::E0605,
                    "batches: found {} samples in batch {}, want {}: only the last may have fewer",
                    lastRows, batches - 1, sequences());
      lastRows = rows < sequences() ? rows : 0;
      ++batches;
    }
    if (batches == 0)
      return fail(ErrorCode::E0605, "batches: found none in an epoch, want at least 1");
    batches_ = batches;
    lastRows_ = lastRows;
    return seeks() ? source_.seek(*first_) : Status();
  }

  CalledBatches source_;
  std::vector<InputSlot> slots_;
  std::vector<Staged> staged_;
  std::vector<CalledInput> inputs_; ///< of the call that runs
  int64_t batches_ = 0, lastRows_ = 0;
  int64_t next_ = 0;                 ///< the batch of an epoch that the source would give
  std::optional<Position> held_;     ///< what is in `staged_`
  std::string heldMark_;             ///< before it
  std::optional<std::string> first_; ///< before the first epoch
};

class BatchFeed : public Feed {
public:
  BatchFeed(std::shared_ptr<Stream> stream, std::vector<InputSlot> slots, int64_t batches,
            Part part)
      : stream_(std::move(stream)), slots_(std::move(slots)),
        batches_(batches - (leavesOut(*stream_, part) ? 1 : 0)), part_(part) {}

  int64_t batches() const override { return batches_; }
  int64_t rows(const Position &at) const override {
    const bool isLast = part_ != Part::Train && at.batch + 1 == batches_;
    return isLast && stream_->lastRows() > 0 ? stream_->lastRows() : sequences();
  }
  std::string leftOut() const override {
    return leavesOut(*stream_, part_)
               ? fmt::format("the last {} samples of an epoch fill no batch of {}",
                             stream_->lastRows(), sequences())
               : "";
  }
  int64_t sequences() const override { return slots_[0].tensor.shape[size_t(slots_[0].batchAxis)]; }
  bool restarts(const Position &at) const override {
    return !stream_->source().continues || at.batch == 0;
  }
  std::string whyIndependent() const override {
    return stream_->source().continues ? "" : "the source does not say that its batches continue";
  }
  bool goesOn() const override { return stream_->seeks(); }
  Result<std::string> mark(const Position &at) override { return stream_->markOf(at); }
  Status goTo(const Position &at, std::string_view mark) override {
    return stream_->goTo(at, mark);
  }

  Status fill(const Position &at) override {
    LSTMC_TRY(stream_->read(at));
    for (size_t i = 0; i < slots_.size(); ++i)
      copyBatch(stream_->staged()[i].tensor, slots_[i]);
    return {};
  }

private:
  static bool leavesOut(const Stream &stream, Part part) {
    return part == Part::Train && stream.lastRows() > 0;
  }
  static void copyBatch(const Tensor &from, const InputSlot &slot) {
    const Tensor &to = slot.tensor;
    const size_t width = dtypeBytes(to.dtype);
    if (to.dense()) {
      std::memcpy(to.data, from.data, size_t(from.elements()) * width);
      return;
    }
    const auto axis = size_t(slot.batchAxis);
    const int64_t inner = from.strides[axis], rows = from.shape[axis];
    for (int64_t row = 0; row < rows; ++row)
      eachIndexBut(to, slot.batchAxis, [&](int64_t number, int64_t offset) {
        const int64_t place = (number / inner * rows + row) * inner + number % inner;
        std::memcpy(to.as<uint8_t>() + size_t(row * to.strides[axis] + offset) * width,
                    from.as<uint8_t>() + size_t(place) * width, width);
      });
  }

  std::shared_ptr<Stream> stream_;
  std::vector<InputSlot> slots_;
  int64_t batches_;
  Part part_;
};

class BatchData : public DataSet {
public:
  explicit BatchData(CalledBatches source)
      : DataSet(specNamed("batches of the program")),
        stream_(std::make_shared<Stream>(std::move(source))) {
    spec_.shuffle = false;
    digest_ = digestOf("batches");
  }

  Result<std::unique_ptr<Feed>> feed(Part part, std::vector<InputSlot> slots,
                                     uint64_t) const override {
    LSTMC_TRY(batchExtent(slots).status());
    LSTMC_ASSIGN(const int64_t batches, stream_->prepare(slots));
    auto feed = std::make_unique<BatchFeed>(stream_, std::move(slots), batches, part);
    if (feed->batches() < 1)
      return fail(ErrorCode::E0605, "batches: found {}, want at least one whole batch to train on",
                  feed->leftOut());
    return std::unique_ptr<Feed>(std::move(feed));
  }
  bool fills(const InputSlot &) const override { return true; }

private:
  std::shared_ptr<Stream> stream_;
};

} // namespace

Result<std::unique_ptr<DataSet>> ofSamples(CalledSamples samples) {
  if (samples.count < 1)
    return fail(ErrorCode::E0001, "samples: found {}, want at least 1", samples.count);
  if (!(samples.valid >= 0 && samples.valid < 1))
    return fail(ErrorCode::E0001, "valid: found {}, want a share from 0 to below 1", samples.valid);
  return std::unique_ptr<DataSet>(new SampleData(std::move(samples)));
}

Result<std::unique_ptr<DataSet>> ofBatches(CalledBatches batches) {
  if (!batches.mark != !batches.seek)
    return fail(ErrorCode::E0001, "a source of batches has both mark and seek, or none");
  if (batches.batches < 0)
    return fail(ErrorCode::E0001, "batches: found {}, want a count from 0", batches.batches);
  return std::unique_ptr<DataSet>(new BatchData(std::move(batches)));
}

} // namespace lstmc::data
