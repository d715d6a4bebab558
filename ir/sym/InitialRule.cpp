#include "ir/sym/InitialRule.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

#include "ir/sym/Pattern.h"

namespace lstmc::sym {

using llvm::StringRef;
using mlir::ArrayAttr;

namespace {

bool matches(StringRef pattern, StringRef name) {
  // Cache: many parameters are matched against few patterns.
  static thread_local std::pair<std::string, Pattern> last{"", Pattern("")};
  if (last.first != pattern)
    last = {pattern.str(), Pattern(std::string_view(pattern))};
  return last.second.matchesBegin(std::string_view(name));
}

mlir::FailureOr<ArrayAttr> unmixed(StringRef parameter, ArrayAttr rule) {
  if (nameOfRule(rule) != "mixed")
    return rule;
  mlir::DictionaryAttr given = argumentsOfRule(rule);
  auto patterns = llvm::dyn_cast_or_null<ArrayAttr>(given.get("patterns"));
  auto initialisers = llvm::dyn_cast_or_null<ArrayAttr>(given.get("initializers"));
  if (patterns && initialisers && patterns.size() == initialisers.size())
    for (auto [pattern, chosen] : llvm::zip_equal(patterns, initialisers)) {
      auto text = llvm::dyn_cast<mlir::StringAttr>(pattern);
      auto inner = llvm::dyn_cast<ArrayAttr>(chosen);
      if (text && inner && matches(text.getValue(), parameter))
        return unmixed(parameter, inner);
    }
  return mlir::failure();
}

} // namespace

StringRef ruleOfName(StringRef parameter) {
  return llvm::StringSwitch<StringRef>(parameter)
      .EndsWith("bias", "zero")
      .EndsWith("gamma", "one")
      .EndsWith("beta", "zero")
      .EndsWith("moving_mean", "zero")
      .EndsWith("moving_var", "one")
      .EndsWith("running_mean", "zero")
      .EndsWith("running_var", "one")
      .EndsWith("moving_inv_var", "zero")
      .EndsWith("moving_avg", "zero")
      .Default("");
}

StringRef nameOfRule(ArrayAttr rule) {
  auto word = rule.empty() ? mlir::StringAttr() : llvm::dyn_cast<mlir::StringAttr>(rule[0]);
  return word ? word.getValue() : StringRef();
}

mlir::DictionaryAttr argumentsOfRule(ArrayAttr rule) {
  if (rule.size() > 1)
    if (auto dictionary = llvm::dyn_cast<mlir::DictionaryAttr>(rule[1]))
      return dictionary;
  return mlir::DictionaryAttr::get(rule.getContext());
}

mlir::FailureOr<ArrayAttr> initialRule(StringRef parameter, ArrayAttr init, ArrayAttr fallback,
                                       mlir::MLIRContext *context) {
  if (init)
    return unmixed(parameter, init);
  mlir::Builder builder(context);
  if (StringRef name = ruleOfName(parameter); !name.empty())
    return builder.getArrayAttr({builder.getStringAttr(name), builder.getDictionaryAttr({})});
  if (fallback)
    return unmixed(parameter, fallback);
  return builder.getArrayAttr(
      {builder.getStringAttr("uniform"),
       builder.getDictionaryAttr(builder.getNamedAttr("scale", builder.getF64FloatAttr(0.01)))});
}

} // namespace lstmc::sym
