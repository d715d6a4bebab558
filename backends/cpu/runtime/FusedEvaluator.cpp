#include "backends/cpu/runtime/Fused.h"

#include <algorithm>
#include <new>

#include "backends/cpu/runtime/FusedPlan.h"
#include "backends/cpu/runtime/TileCopy.h"
#include "executor/abi/ElementWindow.h"
#include "executor/device/StopFlag.h"

namespace lstmc::cpu {

namespace {

/// Visits the elements [first, first + count) of the iteration space, row by row of the innermost
/// dimension.
class Rows {
public:
  Rows(const FusedPlan &plan, int64_t first) : plan_(plan), inner_(plan.rank - 1) {
    for (int d = inner_; d >= 0; --d) {
      index_[d] = first % plan.shape[d];
      first /= plan.shape[d];
    }
  }

  /// Calls f(offset in the operand's elements, stride, elements) for every piece of a row.
  template <typename F> void walk(const FusedPlan::Operand &operand, int64_t count, F f) {
    if (inner_ < 0)
      return f(0, 1, count);
    int64_t offset = 0;
    for (int d = 0; d <= inner_; ++d)
      offset += index_[d] * operand.strides[d];
    int64_t stride = operand.strides[inner_];
    int64_t length = std::min(count, plan_.shape[inner_] - index_[inner_]);
    f(offset, stride, length);
    offset -= index_[inner_] * stride;
    for (count -= length; count > 0; count -= length) {
      int d = inner_ - 1;
      offset += operand.strides[d];
      while (++index_[d] == plan_.shape[d]) {
        offset -= plan_.shape[d] * operand.strides[d];
        index_[d--] = 0;
        offset += operand.strides[d];
      }
      length = std::min(count, plan_.shape[inner_]);
      f(offset, stride, length);
    }
  }

private:
  const FusedPlan &plan_;
  int inner_;
  int64_t index_[kMaxRank];
};

void readTile(const FusedPlan &plan, int o, int64_t first, int64_t count) {
  const FusedPlan::Operand &operand = plan.operands[o];
  ReadRow read = readRow(operand.type);
  auto bytes = int64_t(dtypeBytes(operand.type));
  int64_t step = tileBytes(plan.values[o].type);
  char *to = plan.values[o].data;
  Rows(plan, first).walk(operand, count, [&](int64_t offset, int64_t stride, int64_t n) {
    read(to, operand.base + offset * bytes, stride, n);
    to += n * step;
  });
}

void writeTile(const FusedPlan &plan, int o, int64_t first, int64_t count) {
  const FusedPlan::Operand &operand = plan.operands[o];
  const FusedPlan::Value &value = plan.values[operand.result];
  WriteRow write = writeRow(operand.type);
  auto bytes = int64_t(dtypeBytes(operand.type));
  int64_t step = tileBytes(value.type) * value.step;
  const char *from = value.data;
  Rows(plan, first).walk(operand, count, [&](int64_t offset, int64_t stride, int64_t n) {
    write(operand.base + offset * bytes, stride, from, value.step, n);
    from += n * step;
  });
}

/// Offset of a tile's first element in an operand, in elements.
int64_t offsetOf(const FusedPlan &plan, const FusedPlan::Operand &operand, int64_t first) {
  int64_t offset = 0;
  for (int d = plan.rank - 1; d >= 0; --d) {
    offset += first % plan.shape[d] * operand.strides[d];
    first /= plan.shape[d];
  }
  return offset;
}

/// Random numbers, for each run of consecutive indices in the whole.
void draw(const FusedPlan &plan, const FusedPlan::Operation &operation, TileArgs args,
          int64_t first) {
  const ElementWindow window = ElementWindow::of({plan.window, size_t(plan.windowInts)});
  int64_t run = INT64_MAX;
  if (window.rank() > 0)
    run = window.stride(window.rank() - 1) == 1 ? window.extent(window.rank() - 1) : 1;
  int64_t left = args.count;
  for (int64_t at = first; left > 0; left -= args.count, at += args.count) {
    args.count = std::min(left, run - at % run);
    args.first = uint64_t(window.at(at));
    operation.run(args);
    auto bytes = [&](int v) {
      return args.count * plan.values[v].step * tileBytes(plan.values[v].type);
    };
    args.out = static_cast<char *>(args.out) + bytes(operation.out);
    for (int k = 0; k < operation.inputs; ++k)
      args.in[k] = static_cast<const char *>(args.in[k]) + bytes(operation.in[k]);
  }
}

void runOperation(const FusedPlan &plan, const FusedPlan::Operation &operation, int64_t first,
                  int64_t count) {
  TileArgs args;
  args.out = plan.values[operation.out].data;
  for (int k = 0; k < operation.inputs; ++k) {
    args.in[k] = plan.values[operation.in[k]].data;
    args.step[k] = plan.values[operation.in[k]].step;
  }
  args.count = count;
  args.immediate = operation.immediate;
  args.first = 0;
  if (operation.drawn)
    draw(plan, operation, args, first);
  else
    operation.run(args);
}

void runTile(FusedPlan &plan, int64_t first, int64_t count) {
  for (int o = 0; o < plan.operandCount; ++o) {
    const FusedPlan::Operand &operand = plan.operands[o];
    if (operand.reach == Reach::Run) {
      char *data =
          operand.base + offsetOf(plan, operand, first) * int64_t(dtypeBytes(operand.type));
      if (operand.read && !operand.staged)
        plan.values[o].data = data;
      if (operand.target)
        plan.values[operand.result].data = data;
    }
    if (operand.staged)
      readTile(plan, o, first, count);
    if (operand.reach == Reach::Row && operand.read) {
      readTile(plan, o, first, 1);
      splat(plan.values[o].data, plan.values[o].type);
    }
  }
  for (int i = 0; i < plan.tileOperations; ++i)
    runOperation(plan, plan.operations[i], first, count);
  for (int o = 0; o < plan.operandCount; ++o)
    if (plan.operands[o].written)
      writeTile(plan, o, first, count);
}

} // namespace

void runFused(const FusedTable &table, const LaunchArgs &args, Worker &worker) {
  if (args.operands.empty() || args.operands[0].elements() == 0)
    return;
  FusedPlan &plan = *new (workerMemory) FusedPlan; // not initialised
  plan.make(table, args, worker.count);
  int64_t begin = plan.tiles * worker.index / worker.count;
  int64_t end = plan.tiles * (worker.index + 1) / worker.count;
  if (begin == end)
    return;

  for (int o = 0; o < plan.operandCount; ++o)
    if (plan.operands[o].reach == Reach::Uniform && plan.operands[o].read) {
      readTile(plan, o, 0, 1);
      splat(plan.values[o].data, plan.values[o].type);
    }
  for (int i = 0; i < plan.uniformOperations; ++i) {
    runOperation(plan, plan.uniform[i], 0, 1);
    const FusedPlan::Value &value = plan.values[plan.uniform[i].out];
    splat(value.data, value.type);
  }
  for (int64_t t = begin; t < end && !stopAsked(); ++t) {
    if (plan.rows) {
      int64_t length = plan.shape[plan.rank - 1];
      int64_t inRow = t % plan.perRow * plan.tile;
      runTile(plan, t / plan.perRow * length + inRow, std::min(plan.tile, length - inRow));
    } else {
      runTile(plan, t * plan.tile, std::min(plan.tile, plan.total - t * plan.tile));
    }
  }
}

namespace {

class TileEngine final : public FusedEngine {
public:
  explicit TileEngine(const FusedTable &table) : table_(table) {}
  FusedCode prepare(const FusedProgram &) override {
    return {[](const void *table, const LaunchArgs &args, Worker &worker) {
              runFused(*static_cast<const FusedTable *>(table), args, worker);
            },
            &table_};
  }

private:
  const FusedTable &table_;
};

} // namespace

FusedEngine &tileEngine(Level level) {
  static TileEngine engines[kLevels] = {TileEngine(scalar::fusedTable()),
                                        TileEngine(avx2::fusedTable()),
                                        TileEngine(avx512::fusedTable())};
  return engines[size_t(level)];
}

} // namespace lstmc::cpu
