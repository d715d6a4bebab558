// What the loop asks of the thing it trains.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/base/Status.h"
#include "executor/data/Array.h"
#include "executor/data/DataSet.h"
#include "executor/device/StoredTensor.h"
#include "executor/training/Metrics.h"
#include "executor/training/Signals.h"

namespace lstmc::training {

/// Which model this is: a checkpoint of another is refused.
struct Identity {
  std::string net;
  std::string graphHash;
  std::string producer;      ///< the compiler's version, by whose digest `graphHash` is
  std::string programDigest; ///< of the package; another one of the same graph may go on
  std::string numerics;
  uint32_t shards = 8;
  std::vector<std::pair<std::string, std::string>> settings;
};

/// The norm of a parameter's gradient.
struct NamedNorm {
  std::string name;
  double value = 0;
};

/// A model with memory: SessionTrainable, and stand-ins in tests. Tensors are as they lie, in
/// declared order, and good until the next step() or evaluate().
class Trainable {
public:
  enum class Entry { Step, Evaluate };

  virtual ~Trainable() = default;

  virtual Identity identity() const = 0;
  virtual std::vector<StoredTensor> parameters() = 0;
  /// Optimizer state, named "PARAMETER/SLOT".
  virtual std::vector<StoredTensor> slots() = 0;
  /// What is carried from one batch to the next.
  virtual std::vector<StoredTensor> states() = 0;
  /// To be called after writing through parameters() or slots().
  virtual void parametersChanged() = 0;
  virtual uint64_t weightsHash() = 0;

  virtual const std::vector<Head> &heads() const = 0;
  /// Data and label inputs. Fill them right before each run.
  virtual Result<std::vector<data::InputSlot>> inputs(Entry entry) = 0;
  enum class BatchRows { Wanted, All };
  /// Batches of the training part for step(); `rows`: those that this process reads, or all. Errors
  /// are those of DataSet::feed, and E0001 for data with buckets.
  virtual Result<std::unique_ptr<data::Feed>> trainingFeed(const data::DataSet &data, uint64_t seed,
                                                           BatchRows rows) {
    if (!data.spec().buckets.empty())
      return fail(ErrorCode::E0001, "buckets= of the data compile the network for each length, and "
                                    "this one is compiled already");
    LSTMC_ASSIGN(std::vector<data::InputSlot> slots, inputs(Entry::Step));
    take(rows, slots);
    return data.feed(data::Part::Train, std::move(slots), seed);
  }

  struct StepScalars {
    double learningRate = 0; ///< the schedule's
    int64_t update = 1;
    uint64_t seed = 0;
  };
  /// One update. E0701 when a number is not finite; nothing but gradients has changed
  /// then, but for failedAfterCommit().
  virtual Status step(const StepScalars &scalars) = 0;
  /// The same. May call `fillNext` while devices work: the inputs that it writes are those of the
  /// next step, and are not to be written again before it.
  virtual Status step(const StepScalars &scalars, const std::function<bool()> & /*fillNext*/) {
    return step(scalars);
  }
  /// Whether a step that failed has changed what persists all the same: where every value is looked
  /// at, and the one not finite was written by the update itself.
  virtual bool failedAfterCommit() const { return false; }
  virtual Status evaluate() = 0;
  /// The same; `fillNext` as for step().
  virtual Status evaluate(const std::function<bool()> & /*fillNext*/) { return evaluate(); }
  /// What makes step(), and the bytes of its package, where that is not the model's own.
  struct StepPackage {
    Identity identity;
    std::string bytes;
  };
  virtual std::optional<StepPackage> stepPackage() { return std::nullopt; }
  /// E0702 where a parameter is not the same on all devices that hold it.
  virtual Status compareReplicas() { return {}; }

  // Of a job of several processes, all of which train the same model and do the same.
  /// Brings what parameters(), slots() and states() read to the process that writes.
  virtual Status collect() { return {}; }
  /// Whether this process writes checkpoints.
  virtual bool writes() const { return true; }
  /// E0804 where another process says something else.
  virtual Status agree(std::string_view /*what*/, std::string_view /*value*/) { return {}; }
  /// The seconds that one of them has counted.
  virtual Result<double> sameSeconds(double mine) { return mine; }
  /// The signal that the work is to end on after this step, the same for all, or 0.
  virtual int signal() const { return SignalWatch::pending(); }

  /// Of the entry that ran last: the sums over its batch.
  virtual MetricValues metric(Entry entry, size_t head) = 0;
  /// Whether `evaluate` measures each row by itself, so that some may be left out.
  virtual bool measuresRows() const { return false; }
  /// What `evaluate` measured of one row, where it measures rows.
  virtual MetricValues rowMetric(size_t head, int64_t row) {
    (void)row;
    return metric(Entry::Evaluate, head);
  }
  /// f64 [2, O, B, Q] of what `evaluate` said of class 1 in a head with scores, and of its labels
  /// (executor/abi/Package.fbs), for B rows; null for other heads.
  virtual Tensor scores(size_t head) {
    (void)head;
    return {};
  }
  virtual std::optional<double> gradientNorm() = 0;
  /// Of each parameter, before clipping; none where they were not compiled into the step.
  virtual const std::vector<NamedNorm> &gradientNorms() {
    static const std::vector<NamedNorm> kNone;
    return kNone;
  }

protected:
  static void take(BatchRows rows, std::vector<data::InputSlot> &slots) {
    for (data::InputSlot &slot : slots)
      slot.rows = rows == BatchRows::All ? RowWindow() : slot.rows;
  }
};

} // namespace lstmc::training
