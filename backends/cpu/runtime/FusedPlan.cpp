#include "backends/cpu/runtime/FusedPlan.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "executor/abi/ElementWindow.h"
#include "executor/abi/KernelArguments.h"
#include "executor/base/Numeric.h"

namespace lstmc::cpu {

namespace {

constexpr int64_t kGrain = 64;    ///< the size of a tile is a multiple of this, if large enough
constexpr int64_t kRowTile = 256; ///< in rows of at least this many elements, no tile crosses a row
                                  ///< end
constexpr int kForever = kMaxFusedInstructions;

struct Extent {
  uintptr_t begin, end;
};

/// The bytes that an operand touches.
Extent extentOf(const FusedPlan &plan, const FusedPlan::Operand &operand) {
  int64_t low = 0, high = 0;
  for (int d = 0; d < plan.rank; ++d) {
    int64_t reach = (plan.shape[d] - 1) * operand.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  auto bytes = int64_t(dtypeBytes(operand.type));
  auto base = reinterpret_cast<uintptr_t>(operand.base);
  return {base + uintptr_t(low * bytes), base + uintptr_t((high + 1) * bytes)};
}

} // namespace

void splat(char *data, DType type) {
  int64_t bytes = tileBytes(type);
  for (int64_t i = 1; i < kSplatLanes; ++i)
    std::memcpy(data + i * bytes, data, size_t(bytes));
}

/// Drops extents of 1 and joins dimensions that every operand steps through as one. With `ordered`,
/// the row-major order matters (random numbers) and is kept; else dimensions are sorted by the
/// memory order of the first result.
void FusedPlan::collapse(const LaunchArgs &args, bool ordered) {
  const Tensor &shapes = args.operands[0];
  int order[kMaxRank];
  int dims = 0;
  total = 1;
  for (int d = 0; d < shapes.rank; ++d) {
    total *= shapes.shape[d];
    if (shapes.shape[d] != 1)
      order[dims++] = d;
  }
  if (!ordered)
    for (int o = 0; o < operandCount; ++o)
      if (args.program->results[o] >= 0) {
        const Tensor &leader = args.operands[o];
        for (int i = 1; i < dims; ++i) // insertion sort: it is stable, and there are few dimensions
          for (int j = i;
               j > 0 && std::abs(leader.strides[order[j]]) > std::abs(leader.strides[order[j - 1]]);
               --j)
            std::swap(order[j], order[j - 1]);
        break;
      }
  rank = 0;
  for (int i = 0; i < dims; ++i) {
    int d = order[i];
    bool joins = rank > 0;
    for (int o = 0; joins && o < operandCount; ++o)
      joins = operands[o].strides[rank - 1] == args.operands[o].strides[d] * shapes.shape[d];
    if (!joins)
      shape[rank++] = 1;
    shape[rank - 1] *= shapes.shape[d];
    for (int o = 0; o < operandCount; ++o)
      operands[o].strides[rank - 1] = args.operands[o].strides[d];
  }
}

/// Records which elements of the whole the launch computes.
void FusedPlan::place(std::span<const int64_t> list) {
  const ElementWindow given = ElementWindow::of(list);
  window[0] = given.offset;
  windowInts = 1;
  for (size_t axis = 0; axis < given.rank(); ++axis) {
    int64_t extent = given.extent(axis), stride = given.stride(axis);
    if (extent == 1)
      continue;
    if (windowInts > 1 && window[windowInts - 1] == stride * extent)
      extent *= window[windowInts -= 2];
    window[windowInts++] = extent;
    window[windowInts++] = stride;
  }
  if (windowInts == 3 && window[2] == 1)
    windowInts = 1;
}

bool FusedPlan::dense(const Operand &operand) const {
  int64_t step = 1;
  for (int d = rank - 1; d >= 0; --d) {
    if (operand.strides[d] != step)
      return false;
    step *= shape[d];
  }
  return true;
}

void FusedPlan::reachOperands() {
  rows = rank > 0 && shape[rank - 1] >= kRowTile;
  for (int o = 0; o < operandCount; ++o) {
    Operand &operand = operands[o];
    bool uniform = rank > 0 && !operand.written;
    for (int d = 0; d < rank; ++d)
      uniform &= operand.strides[d] == 0;
    bool asStored = operand.type == widenedType(operand.type) && operand.type != DType::Bool;
    if (uniform)
      operand.reach = Reach::Uniform;
    else if (asStored && (dense(operand) || (rows && operand.strides[rank - 1] == 1)))
      operand.reach = Reach::Run;
    else if (rows && operand.strides[rank - 1] == 0 && !operand.written)
      operand.reach = Reach::Row;
    else
      operand.reach = Reach::Gather;
  }
}

/// Splits the program into instructions run once per launch and those run for every tile. Values
/// that nobody reads are not computed.
void FusedPlan::classify(const FusedProgram &program) {
  int instructions = int(program.instructions.size());
  bool wanted[kMaxFusedOperands + kMaxFusedInstructions] = {};
  for (int o = 0; o < operandCount; ++o)
    if (operands[o].written)
      wanted[operands[o].result] = true;
  for (int i = instructions - 1; i >= 0; --i) {
    if (!wanted[operandCount + i])
      continue;
    const auto &instruction = program.instructions[i];
    const uint16_t in[3] = {instruction.a, instruction.b, instruction.c};
    for (int k = 0; k < kScalarRecords[int(instruction.op)].operands; ++k)
      wanted[in[k]] = true;
  }
  for (int o = 0; o < operandCount; ++o) {
    operands[o].read = wanted[o];
    values[o] = {nullptr, 1, widenedType(operands[o].type), operands[o].reach == Reach::Uniform,
                 false};
  }
  uniformOperations = tileOperations = 0;
  for (int i = 0; i < instructions; ++i) {
    const auto &instruction = program.instructions[i];
    int inputs = kScalarRecords[int(instruction.op)].operands;
    Operation operation{
        nullptr, uint16_t(operandCount + i), {instruction.a, instruction.b, instruction.c},
        inputs,  instruction.immediate,      instruction.op == ScalarOp::Uniform};
    bool once = !operation.drawn;
    for (int k = 0; k < inputs; ++k)
      once &= values[operation.in[k]].uniform;
    values[operation.out] = {nullptr, 1, instruction.type, once, false};
    if (!wanted[operation.out])
      continue;
    (once ? uniform[uniformOperations++] : operations[tileOperations++]) = operation;
  }
}

/// Lets an instruction write its result directly to the operand, if the operand is contiguous and
/// no later instruction reads memory that overlaps it.
void FusedPlan::writeInPlace() {
  for (int o = 0; o < operandCount; ++o) {
    Operand &operand = operands[o];
    if (!operand.written || operand.reach != Reach::Run || operand.result < operandCount)
      continue;
    Value &value = values[operand.result];
    if (value.uniform || value.inPlace)
      continue;
    Extent mine = extentOf(*this, operand);
    int made = 0;
    while (operations[made].out != operand.result)
      ++made;
    bool free = true;
    for (int p = 0; p < operandCount && free; ++p) {
      if (operands[p].reach != Reach::Run || !(operands[p].read || (operands[p].written && p != o)))
        continue;
      Extent other = extentOf(*this, operands[p]);
      if (other.end <= mine.begin || mine.end <= other.begin)
        continue;
      if (operands[p].written && p != o)
        free = false;
      for (int i = made + 1; i < tileOperations && free; ++i)
        for (int k = 0; k < operations[i].inputs; ++k)
          free &= operations[i].in[k] != p;
      for (int r = 0; r < operandCount && free; ++r)
        free &= !(operands[r].written && operands[r].result == p);
    }
    if (!free)
      continue;
    value.inPlace = true;
    operand.target = true;
    operand.written = false;
  }
}

/// Assigns slots of scratch, one tile each, to values; a slot is free again after the last
/// instruction that reads its value. Returns the number of slots. `data` is a slot number until
/// make() knows the size of a tile.
int FusedPlan::allocate() {
  int last[kMaxFusedOperands + kMaxFusedInstructions];
  std::fill_n(last, valueCount, -1);
  for (int i = 0; i < tileOperations; ++i)
    for (int k = 0; k < operations[i].inputs; ++k)
      last[operations[i].in[k]] = i;
  for (int o = 0; o < operandCount; ++o)
    if (operands[o].written)
      last[operands[o].result] = kForever;

  int free[kMaxFusedOperands + kMaxFusedInstructions];
  int freeCount = 0, places = 0;
  auto take = [&](Value &value) {
    int place = freeCount ? free[--freeCount] : places++;
    value.data = scratch + place;
  };
  auto inScratch = [&](int v) {
    if (values[v].uniform || values[v].inPlace)
      return false;
    return v >= operandCount || operands[v].reach == Reach::Gather ||
           (operands[v].reach == Reach::Run && last[v] == kForever);
  };
  for (int o = 0; o < operandCount; ++o) {
    operands[o].staged = operands[o].read && inScratch(o);
    if (operands[o].staged)
      take(values[o]);
  }
  for (int i = 0; i < tileOperations; ++i) {
    Operation &operation = operations[i];
    auto release = [&](bool sameSize) {
      for (int k = 0; k < operation.inputs; ++k) {
        int v = operation.in[k];
        bool again = false; // an instruction may read a value twice
        for (int j = 0; j < k; ++j)
          again |= operation.in[j] == v;
        if (!again && last[v] == i && inScratch(v) &&
            sameSize == (tileBytes(values[v].type) == tileBytes(values[operation.out].type)))
          free[freeCount++] = int(values[v].data - scratch);
      }
    };
    release(true); // the result may use the slot of an input
    if (inScratch(operation.out))
      take(values[operation.out]);
    release(false);
  }
  return places;
}

void FusedPlan::make(const FusedTable &table, const LaunchArgs &args, int workers) {
  const FusedProgram &program = *args.program;
  operandCount = int(args.operands.size());
  valueCount = operandCount + int(program.instructions.size());
  bool ordered = false;
  for (const auto &instruction : program.instructions)
    ordered |= instruction.op == ScalarOp::Uniform;
  for (int o = 0; o < operandCount; ++o) {
    Operand &operand = operands[o];
    operand.base = args.operands[o].as<char>();
    operand.type = args.operands[o].dtype;
    operand.written = program.results[o] >= 0;
    operand.target = false;
    operand.result = uint16_t(operand.written ? program.results[o] : 0);
  }
  collapse(args, ordered);
  if (ordered)
    place(argumentsOf<FusedArguments>(args).window);
  reachOperands();
  classify(program);
  writeInPlace();
  int64_t places = allocate();

  int64_t elementBytes = 4;
  for (int i = 0; i < tileOperations; ++i)
    elementBytes = std::max(elementBytes, tileBytes(values[operations[i].out].type));
  for (int o = 0; o < operandCount; ++o)
    elementBytes = std::max(elementBytes, tileBytes(values[o].type));
  tile = kMaxTile;
  if (places)
    tile = std::min(tile, std::max(kScratchTarget / (places * elementBytes), int64_t(256)));
  tile = std::min(tile, std::max((total + workers - 1) / workers, int64_t(1)));
  tile = (tile + kGrain - 1) / kGrain * kGrain;
  while (tile * places * elementBytes > kScratchBytes)
    tile -= 16;
  if (rows) {
    int64_t row = shape[rank - 1];
    perRow = (row + tile - 1) / tile;
    tiles = total / row * perRow;
  } else {
    perRow = 0;
    tiles = (total + tile - 1) / tile;
  }

  for (int v = 0; v < valueCount; ++v) {
    Value &value = values[v];
    bool once = value.uniform || (v < operandCount && operands[v].reach == Reach::Row);
    if (once) {
      value.data = splats + v * kSplatBytes;
      value.step = 0;
    } else if (value.data) {
      value.data = scratch + (value.data - scratch) * tile * elementBytes;
    }
  }
  auto function = [&](const Operation &operation, const auto &instruction) {
    bool last = operation.inputs > 0 && !operation.drawn;
    DType type = last ? values[operation.in[operation.inputs - 1]].type : instruction.type;
    bool vector = type == DType::F32 || type == DType::Bool;
    TileFunction own = vector ? table.f32[int(instruction.op)] : nullptr;
    return own ? own : scalarTileFunction(instruction.op, type, instruction.type);
  };
  for (int i = 0; i < uniformOperations; ++i)
    uniform[i].run = function(uniform[i], program.instructions[uniform[i].out - operandCount]);
  for (int i = 0; i < tileOperations; ++i)
    operations[i].run =
        function(operations[i], program.instructions[operations[i].out - operandCount]);
}

} // namespace lstmc::cpu
