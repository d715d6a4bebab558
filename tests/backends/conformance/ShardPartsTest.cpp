// The sums that devices compute for parts of a batch add up to the bits of the whole: a device
// holds some shards and sums its maximal complete subtrees; the rest of the tree is ordinary
// addition.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "backends/conformance/Cases.h"
#include "backends/cpu/runtime/KernelTable.h"
#include "executor/base/FloatMode.h"
#include "executor/reference/Reference.h"

namespace lstmc::conformance {
namespace {

/// Launches of a kernel over `batch` rows; `over` gives the arguments for a range of shards.
struct Sum {
  std::string name;
  std::function<TestLaunch(int64_t batch)> make;
  std::function<WireArguments(const ShardRange &)> over;

  friend void PrintTo(const Sum &sum, std::ostream *out) { *out << sum.name; }
};

/// The arguments of a kernel that takes only a range.
template <typename Arguments> WireArguments rangeAlone(const ShardRange &range) {
  return wireArguments(Arguments{.range = range});
}

/// Products of these numbers are below the smallest float, so the sums of shards are zeros of
/// either sign.
Values tiny(uint64_t salt) { return uniform(-1e-30, 1e-30, salt); }

const std::vector<Sum> kSums = {
    {"weight",
     [](int64_t batch) {
       return makeLaunch(KernelId::WeightGradient,
                         {Array(DType::F32, {7, 18}), Array(), Array(),
                          Array(DType::F32, {3, batch, 1, 7}, uniform(-1, 1, 1)),
                          Array(DType::F32, {3, batch, 1, 18}, uniform(-1, 1, 2)),
                          Array(DType::F32, {1, batch, 2, 7}, uniform(-1, 1, 3)),
                          Array(DType::F32, {1, batch, 2, 18}, uniform(-1, 1, 4))});
     },
     rangeAlone<WeightGradientArguments>},
    {"weight of tiny values",
     [](int64_t batch) {
       return makeLaunch(KernelId::WeightGradient, {Array(DType::F32, {7, 18}), Array(), Array(),
                                                    Array(DType::F32, {1, batch, 1, 7}, tiny(1)),
                                                    Array(DType::F32, {1, batch, 1, 18}, tiny(2))});
     },
     rangeAlone<WeightGradientArguments>},
    {"weight in f64",
     [](int64_t batch) {
       return makeLaunch(KernelId::WeightGradient,
                         {Array(DType::F64, {2, 3}), Array(), Array(),
                          Array(DType::F64, {3, batch, 1, 2}, uniform(-1, 1, 1)),
                          Array(DType::F64, {3, batch, 1, 3}, uniform(-1, 1, 2))});
     },
     rangeAlone<WeightGradientArguments>},
    {"embedding",
     [](int64_t batch) {
       return makeLaunch(KernelId::WeightGradient,
                         {Array(DType::F32, {5, 18}), Array(DType::F32, {1}), Array(),
                          Array(DType::F32, {3, batch, 1, 18}, uniform(-1, 1, 1)),
                          Array(DType::I32, {3, batch, 1}, integers(0, 4, 2))});
     },
     rangeAlone<WeightGradientArguments>},
    {"bias",
     [](int64_t batch) {
       return makeLaunch(KernelId::BiasGradient,
                         {Array(DType::F32, {35}), Array(),
                          Array(DType::F32, {3, batch, 2, 35}, uniform(-1, 1, 1)),
                          Array(DType::F32, {1, batch, 1, 35}, uniform(-1, 1, 2))});
     },
     rangeAlone<BiasGradientArguments>},
    {"softmax_metric",
     [](int64_t batch) {
       return makeLaunch(KernelId::SoftmaxMetric,
                         {Array(DType::F32, {2, batch, 3, 9}, uniform(-5, 5)),
                          Array(DType::I32, {2, batch, 3}, integers(0, 8, 1)),
                          Array(DType::F64, {kEvaluationFields})});
     },
     [](const ShardRange &range) {
       return wireArguments(SoftmaxMetricArguments{.range = range,
                                                   .useIgnore = true,
                                                   .valid = false,
                                                   .ignoreLabel = 3,
                                                   .smoothAlpha = 0,
                                                   .scale = 1});
     }},
    {"regression_metric",
     [](int64_t batch) {
       return makeLaunch(KernelId::RegressionMetric,
                         {Array(DType::F32, {2, batch, 3}, uniform(-5, 5)),
                          Array(DType::F32, {2, batch, 3}, uniform(0, 1, 1)),
                          Array(DType::F64, {kEvaluationFields})});
     },
     [](const ShardRange &range) {
       return wireArguments(
           RegressionMetricArguments{.range = range, .loss = RegressionLoss::Absolute, .scale = 1});
     }},
    {"loss_metric",
     [](int64_t batch) {
       return makeLaunch(KernelId::LossMetric, {Array(DType::F32, {2, batch, 3}, uniform(-5, 5)),
                                                Array(DType::F64, {kEvaluationFields})});
     },
     [](const ShardRange &range) {
       return wireArguments(
           LossMetricArguments{.range = range, .valid = false, .validThresh = 0, .scale = 1});
     }}};

/// The sum of some shards; none if they have no rows.
using Value = std::optional<std::vector<double>>;

/// The sums of parts of one launch's batch; each is computed once.
class Parts {
public:
  Parts(const Sum &sum, const TestLaunch &whole, int64_t batch, int64_t shards,
        KernelFunction (*find)(KernelId, std::span<const Tensor>))
      : sum_(sum), whole_(whole), batch_(batch), shards_(shards), find_(find) {}

  /// The launch over a range: its operands are rows of the whole launch's operands, in the same
  /// memory.
  const Value &launch(int64_t first, int64_t count) {
    auto [found, isNew] = made_.try_emplace({first, count});
    const ShardRange range{batch_, shards_, first, count};
    if (!isNew || range.rows() == 0)
      return found->second;
    TestLaunch part = whole_.clone();
    WireArguments arguments = sum_.over(range);
    part.ints = std::move(arguments.ints);
    part.floats = std::move(arguments.floats);
    const KernelRecord &record = kernelRecord(part.id);
    size_t result = 0;
    for (size_t i = 0; i < part.operands.size(); ++i) {
      Array &operand = part.operands[i];
      const bool fixed = i < record.operands.size();
      if (fixed && record.operands[i].name == "begin")
        continue;
      if (!fixed || record.operands[i].mode == OperandMode::In)
        operand = operand.slice(1, shardBegin(batch_, shards_, first), range.rows());
      else if (record.operands[i].name != "scratch")
        result = i;
      else if (operand.storage)
        operand = Array(DType::U8, {scratchOf(WeightGradientArguments{.range = range}, int64_t(5),
                                              int64_t(18), sizeof(float))
                                        .bytes});
    }
    part.run(find_(part.id, part.tensors()));
    for (const Array &operand : part.operands)
      EXPECT_TRUE(!operand.storage || operand.storage->guarded());
    type_ = part.operands[result].tensor.dtype;
    return found->second = part.operands[result].values();
  }

  /// The tree's node over a range of shards, when devices hold the shards between `boundaries`. A
  /// device that has the whole range launches it; otherwise the sums of two nodes are added.
  Value node(const std::vector<int64_t> &boundaries, int64_t first, int64_t count) {
    for (size_t device = 1; device < boundaries.size(); ++device)
      if (boundaries[device - 1] <= first && first + count <= boundaries[device])
        return launch(first, count);
    const auto left = int64_t(std::bit_floor(uint64_t(count - 1)));
    return added(node(boundaries, first, left), node(boundaries, first + left, count - left));
  }

private:
  Value added(const Value &left, const Value &right) const {
    if (!left || !right)
      return left ? left : right;
    Value result = left;
    FloatMode mode;
    for (size_t i = 0; i < left->size(); ++i)
      (*result)[i] = type_ == DType::F32 ? double(float((*left)[i]) + float((*right)[i]))
                                         : (*left)[i] + (*right)[i];
    return result;
  }

  const Sum &sum_;
  const TestLaunch &whole_;
  int64_t batch_, shards_;
  KernelFunction (*find_)(KernelId, std::span<const Tensor>);
  DType type_ = DType::F32;
  std::map<std::pair<int64_t, int64_t>, Value> made_;
};

std::vector<uint64_t> bitsOf(const std::vector<double> &values) {
  std::vector<uint64_t> bits;
  for (double value : values)
    bits.push_back(std::bit_cast<uint64_t>(value));
  return bits;
}

class ShardParts : public testing::TestWithParam<Sum> {
protected:
  void expectWhole(KernelFunction (*find)(KernelId, std::span<const Tensor>)) {
    for (int64_t batch : {1, 2, 3, 5, 7, 8, 13, 16, 21})
      for (int64_t shards : {1, 3, 5, 8}) {
        const TestLaunch whole = GetParam().make(batch);
        Parts parts(GetParam(), whole, batch, shards, find);
        const std::vector<uint64_t> want = bitsOf(*parts.launch(0, shards));
        // Bit j of a cut is set if there is a boundary before shard j + 1.
        for (uint64_t cut = 0; cut < uint64_t(1) << (shards - 1); ++cut) {
          std::vector<int64_t> boundaries{0};
          for (int64_t j = 1; j < shards; ++j)
            if (cut >> (j - 1) & 1)
              boundaries.push_back(j);
          boundaries.push_back(shards);
          ASSERT_EQ(bitsOf(*parts.node(boundaries, 0, shards)), want)
              << "batch " << batch << ", " << shards << " shards, cut " << cut;
        }
      }
  }

  template <cpu::Level level> void expectWholeAt() {
    if (cpu::machineLevel() >= level)
      expectWhole([](KernelId id, std::span<const Tensor> operands) {
        return cpu::kernelTable(level).find(id, operands);
      });
  }
};

TEST_P(ShardParts, AddUpToTheBitsOfTheWhole) {
  expectWhole([](KernelId id, std::span<const Tensor>) { return reference::kernel(id); });
  expectWholeAt<cpu::Level::Scalar>();
  expectWholeAt<cpu::Level::Avx2>();
  expectWholeAt<cpu::Level::Avx512>();
}

INSTANTIATE_TEST_SUITE_P(Kernels, ShardParts, testing::ValuesIn(kSums),
                         [](const testing::TestParamInfo<Sum> &info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

} // namespace
} // namespace lstmc::conformance
