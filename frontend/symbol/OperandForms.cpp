#include "frontend/symbol/OperandForms.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace lstmc::symbol {

/// `1 < x` is `x > 1`: the comparison with its operands exchanged, by the stem of its name.
static std::string exchanged(const std::string &stem) {
  for (auto [from, to] :
       {std::pair<std::string_view, std::string_view>("greater", "lesser"), {"lesser", "greater"}})
    if (stem.starts_with(from))
      return std::string(to) + stem.substr(from.size());
  return stem;
}

/// An op `_STEM_scalar` whose number is the right operand belongs to `_STEM` and `broadcast_STEM`;
/// `_rSTEM_scalar` has the number on the left, where exchanging the operands changes the result.
static std::vector<OperandForms> findForms() {
  constexpr std::string_view kSuffix = "_scalar";
  std::vector<OperandForms> found;
  for (const OpSignature &op : allOps()) {
    if (!op.name.starts_with('_') || !op.name.ends_with(kSuffix))
      continue;
    const std::string stem = op.name.substr(1, op.name.size() - 1 - kSuffix.size());
    OperandForms forms{findOp("_" + stem), findOp("broadcast_" + stem), &op,
                       findOp("_r" + stem + "_scalar")};
    if (!forms.numberFirst)
      forms.numberFirst = findOp("_" + exchanged(stem) + "_scalar");
    if (forms.tensors && forms.stretching)
      found.push_back(forms);
  }
  return found;
}

const std::vector<OperandForms> &operandForms() {
  static const std::vector<OperandForms> kForms = findForms();
  return kForms;
}

const OperandForms *operandFormsOf(const OpSignature &op) {
  auto found = std::ranges::find_if(operandForms(), [&](const OperandForms &forms) {
    return forms.tensors == &op || forms.stretching == &op;
  });
  return found == operandForms().end() ? nullptr : &*found;
}

} // namespace lstmc::symbol
