// A feed that a thread fills one batch ahead.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "executor/base/Threads.h"
#include "executor/data/Array.h"
#include "executor/data/Elements.h"
#include "executor/data/Sources.h"

namespace lstmc::data {
namespace {

bool same(const Position &a, const Position &b) { return a.epoch == b.epoch && a.batch == b.batch; }

/// The memory that the thread fills.
struct Staged {
  Bytes bytes;
  InputSlot slot; ///< dense, in `bytes`
};

class ReadAheadFeed : public Feed {
public:
  ReadAheadFeed(std::vector<InputSlot> slots, std::vector<Staged> staged,
                std::unique_ptr<Feed> reader)
      : slots_(std::move(slots)), staged_(std::move(staged)), reader_(std::move(reader)) {}
  ~ReadAheadFeed() override {
    if (!thread_.joinable())
      return;
    {
      std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Status start() try {
    thread_ = std::thread([this] { work(); });
    return {};
  } catch (const std::system_error &thrown) {
    return noThread("a thread that reads data", thrown);
  }

  int64_t batches() const override { return reader_->batches(); }
  int64_t sequences() const override { return reader_->sequences(); }
  int64_t rows(const Position &at) const override { return reader_->rows(at); }
  std::string leftOut() const override { return reader_->leftOut(); }
  bool restarts(const Position &at) const override { return reader_->restarts(at); }
  std::string whyIndependent() const override { return reader_->whyIndependent(); }
  std::string carriedRemark() const override { return reader_->carriedRemark(); }

  Status fill(const Position &position) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !wanted_; });
    if (!filled_ || !same(*filled_, position)) {
      wanted_ = position;
      changed_.notify_all();
      changed_.wait(lock, [&] { return !wanted_; });
    }
    Status status = status_;
    for (size_t i = 0; i < slots_.size() && status.ok(); ++i)
      copy(staged_[i].slot.tensor, slots_[i]);
    bool last = position.batch + 1 == batches();
    wanted_ = last ? Position{position.epoch + 1, 0} : Position{position.epoch, position.batch + 1};
    changed_.notify_all();
    return status;
  }

private:
  void work() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [&] { return wanted_ || ends_; });
      if (ends_)
        return;
      Position position = *wanted_;
      lock.unlock();
      Status status = reader_->fill(position);
      lock.lock();
      status_ = std::move(status);
      filled_ = position;
      wanted_.reset();
      changed_.notify_all();
    }
  }

  /// The rows that are wanted, from a dense tensor.
  static void copy(const Tensor &from, const InputSlot &slot) {
    const Tensor &to = slot.tensor;
    const size_t width = dtypeBytes(from.dtype), axis = size_t(slot.batchAxis);
    const int64_t inner = from.strides[axis], rows = from.shape[axis];
    const RowWindow wanted = slot.rows.within(rows);
    for (int64_t n = wanted.begin; n < wanted.end; ++n)
      eachIndexBut(to, slot.batchAxis, [&](int64_t number, int64_t offset) {
        const int64_t place = (number / inner * rows + n) * inner + number % inner;
        std::memcpy(to.as<uint8_t>() + size_t(n * to.strides[axis] + offset) * width,
                    from.as<uint8_t>() + size_t(place) * width, width);
      });
  }

  std::vector<InputSlot> slots_;
  std::vector<Staged> staged_;
  std::unique_ptr<Feed> reader_; ///< fills `staged_`; used by the thread alone between its calls
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Position> wanted_; ///< to be filled by the thread, which then takes it away
  std::optional<Position> filled_; ///< what `staged_` holds, if `status_` is good
  Status status_;
  bool ends_ = false;
  std::thread thread_;
};

} // namespace

Result<std::unique_ptr<Feed>>
readAhead(std::vector<InputSlot> slots,
          const std::function<Result<std::unique_ptr<Feed>>(std::vector<InputSlot>)> &make) {
  std::vector<Staged> staged(slots.size());
  std::vector<InputSlot> dense;
  for (size_t i = 0; i < slots.size(); ++i) {
    const Tensor &to = slots[i].tensor;
    staged[i].bytes.resize(size_t(to.elements()) * dtypeBytes(to.dtype));
    staged[i].slot = slots[i];
    staged[i].slot.tensor = denseTensor(staged[i].bytes.data(), to.dtype, shapeOf(to));
    dense.push_back(staged[i].slot);
  }
  LSTMC_ASSIGN(std::unique_ptr<Feed> reader, make(std::move(dense)));
  auto feed =
      std::make_unique<ReadAheadFeed>(std::move(slots), std::move(staged), std::move(reader));
  LSTMC_TRY(feed->start());
  return std::unique_ptr<Feed>(std::move(feed));
}

} // namespace lstmc::data
