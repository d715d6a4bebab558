#include "executor/abi/Kernels.h"

#include <cassert>

namespace lstmc {

namespace {

std::vector<std::string_view> words(std::string_view text) {
  std::vector<std::string_view> result;
  size_t at = 0;
  while ((at = text.find_first_not_of(' ', at)) != std::string_view::npos) {
    size_t end = std::min(text.find(' ', at), text.size());
    result.push_back(text.substr(at, end - at));
    at = end;
  }
  return result;
}

/// `before`: the operands that stand in front of it.
OperandRecord parseOperand(std::string_view word, const std::vector<OperandRecord> &before) {
  size_t colon = word.find(':');
  std::string_view mode = word.substr(colon + 1);
  bool optional = mode.ends_with('?');
  if (optional)
    mode.remove_suffix(1);
  int itself = -1;
  if (size_t equals = mode.find('='); equals != std::string_view::npos) {
    for (size_t i = 0; i < before.size(); ++i)
      if (before[i].name == mode.substr(equals + 1))
        itself = int(i);
    assert(itself >= 0 && "names an operand in front of it");
    mode = mode.substr(0, equals);
  }
  assert(mode == "in" || mode == "out" || mode == "io");
  return {word.substr(0, colon),
          mode == "in"    ? OperandMode::In
          : mode == "out" ? OperandMode::Out
                          : OperandMode::InOut,
          optional, itself};
}

KernelRecord parse(KernelId id, std::string_view name, std::string_view operands,
                   std::string_view ints, std::string_view floats, std::string_view meaning) {
  KernelRecord record{id, name, {}, {}, words(ints), {}, words(floats), meaning};
  if (!record.ints.empty() && record.ints.back().ends_with('*')) {
    record.intList = record.ints.back().substr(0, record.ints.back().size() - 1);
    record.ints.pop_back();
  }
  std::string_view fixed = operands, repeated;
  if (size_t open = operands.find('('); open != std::string_view::npos) {
    fixed = operands.substr(0, open);
    repeated = operands.substr(open + 1, operands.find(')') - open - 1);
  }
  for (std::string_view word : words(fixed))
    record.operands.push_back(parseOperand(word, record.operands));
  for (std::string_view word : words(repeated))
    record.repeated.push_back(parseOperand(word, record.operands));
  return record;
}

template <typename List, typename Name>
int position(const List &list, std::string_view wanted, Name nameOf) {
  for (size_t i = 0; i < list.size(); ++i)
    if (nameOf(list[i]) == wanted)
      return int(i);
  assert(false && "no such name in the kernel's record");
  return -1;
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
#define LSTMC_KERNEL(ID, NAME, OPERANDS, INTS, FLOATS, MEANING)                                    \
  parse(KernelId::ID, NAME, OPERANDS, INTS, FLOATS, MEANING),
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
