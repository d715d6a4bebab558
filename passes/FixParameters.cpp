// fix-parameters: excludes parameters from training.

#include "executor/base/Suggest.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/SymOps.h"
#include "passes/NamePattern.h"
#include "passes/Passes.h"

#include <fmt/ranges.h>

namespace lstmc::passes {

#define GEN_PASS_DEF_FIXPARAMETERS
#include "passes/Passes.h.inc"

namespace {

struct FixParameters : impl::FixParametersBase<FixParameters> {
  using FixParametersBase::FixParametersBase;

  void runOnOperation() override {
    llvm::SmallVector<sym::VariableOp> variables;
    getOperation().walk([&](sym::VariableOp variable) { variables.push_back(variable); });
    for (const std::string &pattern : patterns)
      if (!fix(variables, pattern)) {
        refuse(variables, pattern);
        return signalPassFailure();
      }
  }

private:
  static bool fix(llvm::ArrayRef<sym::VariableOp> variables, const std::string &pattern) {
    bool found = false;
    for (sym::VariableOp variable : variables)
      if (matchesPattern(variable.getName(), pattern)) {
        variable->setAttr("auxiliary", mlir::UnitAttr::get(variable.getContext()));
        found = true;
      }
    return found;
  }

  void refuse(llvm::ArrayRef<sym::VariableOp> variables, const std::string &pattern) {
    std::vector<std::string_view> names;
    for (sym::VariableOp variable : variables)
      names.push_back(std::string_view(variable.getName()));
    names = nearestFirst(pattern, names);
    const bool more = names.size() > 8;
    names.resize(std::min<size_t>(names.size(), 8));
    sym::emitCoded(mlir::UnknownLoc::get(&getContext()), ErrorCode::E0001)
        << fmt::format("--fixed-params \"{}\" matches no parameter; there are {}{}", pattern,
                       fmt::join(names, ", "), more ? ", .." : "");
  }
};

} // namespace

} // namespace lstmc::passes
