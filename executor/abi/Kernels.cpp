#include "executor/abi/Kernels.h"

#include <cstdio>
#include <cstdlib>
#include <initializer_list>

namespace lstmc {

namespace {

// Turns the entries of a row's columns into data, in their order.

struct OperandEntry {
  OperandRecord record;
  bool repeats = false;
};

struct IntEntry {
  std::string_view name;
  bool list = false;
};

KernelRecord makeRecord(KernelId id, std::string_view name,
                        std::initializer_list<OperandEntry> operands,
                        std::initializer_list<IntEntry> ints,
                        std::initializer_list<std::string_view> floats, std::string_view meaning) {
  KernelRecord record{id, name, {}, {}, {}, {}, floats, meaning};
  for (const OperandEntry &operand : operands)
    (operand.repeats ? record.repeated : record.operands).push_back(operand.record);
  for (const IntEntry &entry : ints)
    if (entry.list)
      record.intList = entry.name;
    else
      record.ints.push_back(entry.name);
  return record;
}

// Each row becomes a function of a struct that has the names of the row's operands, because an
// operand may refer to another by name.
#define LSTMC_OPERAND(NAME, MODE, OPTIONAL, ITSELF)                                                \
  {{#NAME, OperandMode::MODE, OPTIONAL, int(ITSELF)}},
#define LSTMC_REPEATED(NAME, MODE) {{#NAME, OperandMode::MODE, false}, true},
#define LSTMC_INT(TYPE, NAME) {#NAME},
#define LSTMC_SHARDS(NAME) {"batch"}, {"shards"}, {"first"}, {"count"},
#define LSTMC_LIST(NAME) {#NAME, true},
#define LSTMC_FLOAT(NAME) #NAME,
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING)                                    \
  struct ID##Row : ID##Operand {                                                                   \
    static KernelRecord record() {                                                                 \
      return makeRecord(KernelId::ID, NAME, {OPERANDS}, {INTS}, {FLOATS}, MEANING);                \
    }                                                                                              \
  };
#define LSTMC_TRANSFER LSTMC_KERNEL
#include "executor/abi/Kernels.def"

template <typename List, typename Name>
int position(const List &list, std::string_view wanted, Name nameOf) {
  for (size_t i = 0; i < list.size(); ++i)
    if (nameOf(list[i]) == wanted)
      return int(i);
  // This is a bug, and it ends release builds too: with position -1, a check would look at other
  // memory.
  std::fprintf(stderr, "no kernel has an operand or argument \"%.*s\" there\n", int(wanted.size()),
               wanted.data());
  std::abort();
}

} // namespace

int KernelRecord::operand(std::string_view wanted) const {
  return position(operands, wanted, [](const OperandRecord &o) { return o.name; });
}
int KernelRecord::integer(std::string_view wanted) const {
  return position(ints, wanted, [](std::string_view n) { return n; });
}
int KernelRecord::floating(std::string_view wanted) const {
  return position(floats, wanted, [](std::string_view n) { return n; });
}

const std::vector<KernelRecord> &kernelRecords() {
  static const std::vector<KernelRecord> kRecords = {
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING) ID##Row::record(),
#define LSTMC_TRANSFER LSTMC_KERNEL
#include "executor/abi/Kernels.def"
  };
  return kRecords;
}

std::optional<KernelId> findKernel(std::string_view name) {
  for (const KernelRecord &record : kernelRecords())
    if (record.name == name)
      return record.id;
  return std::nullopt;
}

} // namespace lstmc
