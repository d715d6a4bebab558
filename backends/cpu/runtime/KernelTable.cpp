#include "backends/cpu/runtime/KernelTable.h"

#include "executor/reference/Reference.h"

namespace lstmc::cpu {

namespace {

KernelTable makeTable(Level level) {
  KernelTable table;
  switch (level) {
  case Level::Scalar:
#define LSTMC_CPU_KERNEL_FILE(NAME) scalar::register##NAME(table);
#include "backends/cpu/runtime/KernelFiles.def"
    break;
  case Level::Avx2:
#define LSTMC_CPU_KERNEL_FILE(NAME) avx2::register##NAME(table);
#include "backends/cpu/runtime/KernelFiles.def"
    break;
  case Level::Avx512:
#define LSTMC_CPU_KERNEL_FILE(NAME) avx512::register##NAME(table);
#include "backends/cpu/runtime/KernelFiles.def"
    break;
  }
  return table;
}

} // namespace

KernelFunction KernelTable::find(KernelId id, std::span<const Tensor> operands) const {
  const Entry &entry = entries_[size_t(id)];
  bool takes = entry.function != nullptr;
  if (entry.types == Types::F32)
    for (const Tensor &operand : operands)
      takes &= !operand || !isFloat(operand.dtype) || operand.dtype == DType::F32;
  return takes ? entry.function : reference::kernel(id);
}

const KernelTable &kernelTable(Level level) {
  static const KernelTable kTables[kLevels] = {makeTable(Level::Scalar), makeTable(Level::Avx2),
                                               makeTable(Level::Avx512)};
  return kTables[size_t(level)];
}

} // namespace lstmc::cpu
