// report-norms: makes training report the norm of each parameter's gradient.

#include "ir/sym/SymOps.h"
#include "passes/Passes.h"

namespace lstmc::passes {

#define GEN_PASS_DEF_REPORTNORMS
#include "passes/Passes.h.inc"

namespace {

struct ReportNorms : impl::ReportNormsBase<ReportNorms> {
  using ReportNormsBase::ReportNormsBase;

  void runOnOperation() override {
    llvm::SmallVector<sym::VariableOp> variables;
    getOperation().walk([&](sym::VariableOp variable) { variables.push_back(variable); });
    const int64_t weights = llvm::count_if(
        variables, [](sym::VariableOp each) { return each.getName().ends_with("weight"); });
    if (weights < from)
      return;
    for (sym::VariableOp variable : variables)
      variable->setAttr("report_norm", mlir::UnitAttr::get(&getContext()));
  }
};

} // namespace

} // namespace lstmc::passes
