#include "frontend/cli/ParameterFlags.h"

#include <fmt/ranges.h>

#include "executor/base/Suggest.h"
#include "frontend/cli/AsyncStore.h"
#include "ir/sym/SymOps.h"
#include "passes/NamePattern.h"

namespace lstmc::cli {

/// Weights from which a net is deep: a stack of 12 LSTMs, or 24 layers of one product each.
static constexpr size_t kDeep = 24;

static Status fixParameters(llvm::ArrayRef<sym::VariableOp> variables,
                            const std::vector<std::string> &patterns) {
  for (const std::string &pattern : patterns) {
    bool found = false;
    for (sym::VariableOp variable : variables)
      if (passes::matchesPattern(variable.getName(), pattern)) {
        variable->setAttr("auxiliary", mlir::UnitAttr::get(variable.getContext()));
        found = true;
      }
    if (found)
      continue;
    std::vector<std::string_view> names;
    for (sym::VariableOp variable : variables)
      names.push_back(std::string_view(variable.getName()));
    names = nearestFirst(pattern, names);
    bool more = names.size() > 8;
    names.resize(std::min<size_t>(names.size(), 8));
    return fail(ErrorCode::E0001, "--fixed-params \"{}\" matches no parameter; there are {}{}",
                pattern, fmt::join(names, ", "), more ? ", .." : "");
  }
  return {};
}

Status markParameters(mlir::ModuleOp module, const Options &options) {
  if (options.command != CommandId::Train)
    return {};
  llvm::SmallVector<sym::VariableOp> variables;
  module.walk([&](sym::VariableOp variable) { variables.push_back(variable); });
  LSTMC_TRY(fixParameters(variables, *options.fixedParams));
  size_t weights = size_t(llvm::count_if(
      variables, [](sym::VariableOp variable) { return variable.getName().ends_with("weight"); }));
  // A replay has the program of its run, whatever either prints.
  const bool logged = *options.format == Form::JsonLines && !options.replay && !saysAsync(options);
  const bool asked =
      options.gradientNorms || options.verbose > 0 || options.tensorboard.has_value() || logged;
  if (asked || weights >= kDeep)
    for (sym::VariableOp variable : variables)
      variable->setAttr("report_norm", mlir::UnitAttr::get(variable.getContext()));
  return {};
}

} // namespace lstmc::cli
