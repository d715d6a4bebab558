#include "executor/base/Philox.h"
#include "executor/base/Quote.h"
#include "executor/base/Sha256.h"
#include "executor/data/Array.h"
#include "executor/data/Elements.h"
#include "executor/data/Sources.h"

namespace lstmc::data {
namespace {

/// Data for any input: floats uniform in [-1, 1), integers in [0, classes), limited to the input's
/// range. Element, slot and batch are the Philox counter, so a batch is the same in every epoch.
class RandomFeed : public Feed {
public:
  RandomFeed(const DataSpec &spec, std::vector<InputSlot> slots, int64_t batch)
      : seed_(spec.seed), batches_(spec.batches), classes_(spec.classes ? spec.classes : 2),
        slots_(std::move(slots)), sequences_(batch) {}

  int64_t batches() const override { return batches_; }
  int64_t sequences() const override { return sequences_; }
  bool restarts(const Position &position) const override { return position.batch == 0; }

  Status fill(const Position &position) override {
    for (size_t ordinal = 0; ordinal < slots_.size(); ++ordinal) {
      const Tensor &to = slots_[ordinal].tensor;
      eachIndexBut(to, -1, [&](int64_t number, int64_t offset) {
        double u =
            randomUniform(seed_, uint64_t(number), uint32_t(ordinal), uint32_t(position.batch));
        writeElement(to.data, to.dtype, offset, valueOf(slots_[ordinal], u));
      });
    }
    return {};
  }

private:
  /// The range of the input, if it has one.
  double valueOf(const InputSlot &slot, double u) const {
    int64_t low = slot.range ? slot.range->low : 0;
    if (isFloat(slot.tensor.dtype) && low == 0)
      return 2 * u - 1;
    int64_t count = slot.range ? std::min(classes_, slot.range->high - low + 1) : classes_;
    return double(low) + std::floor(u * double(count));
  }

  uint64_t seed_;
  int64_t batches_, classes_;
  std::vector<InputSlot> slots_;
  int64_t sequences_;
};

class RandomData : public DataSet {
public:
  explicit RandomData(const DataSpec &spec) : DataSet(spec) {
    digest_ = sha256(asBytes(fmt::format("random {} {}", spec.seed, spec.classes)));
  }
  bool fills(const InputSlot &) const override { return true; }
  Result<std::unique_ptr<Feed>> feed(Part, std::vector<InputSlot> slots, uint64_t) const override {
    LSTMC_ASSIGN(int64_t batch, batchExtent(slots));
    for (const InputSlot &slot : slots)
      if (slot.range && !isFloat(slot.tensor.dtype) &&
          spec_.classes > slot.range->high - slot.range->low + 1)
        return fail(ErrorCode::E0604, "data {}: found {} classes, want {} for input {}",
                    inQuotes(spec_.source), spec_.classes, slot.range->text(), inQuotes(slot.name));
    return std::unique_ptr<Feed>(new RandomFeed(spec_, std::move(slots), batch));
  }
};

} // namespace

Result<std::unique_ptr<DataSet>> makeRandom(const DataSpec &spec) {
  return std::unique_ptr<DataSet>(new RandomData(spec));
}

} // namespace lstmc::data
