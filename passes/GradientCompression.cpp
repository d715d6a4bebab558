#include "passes/GradientCompression.h"

#include "ir/sym/Attributes.h"
#include "ir/sym/Create.h"
#include "ir/sym/SymOps.h"
#include "passes/FusedScalars.h"

namespace lstmc::passes {

using mlir::Value;

GradientCompression::GradientCompression(mlir::ModuleOp module, double threshold,
                                         llvm::ArrayRef<int64_t> workers)
    : symbols(module), threshold(threshold), workers(workers) {
  for (auto parameter : module.getOps<sym::ParameterOp>())
    lastDeclared = parameter;
}

Subtrees GradientCompression::compress(llvm::StringRef parameter, mlir::Location loc, Subtrees sums,
                                       mlir::OpBuilder &builder, PlacementListener &listener) {
  auto workerOf = [&](const Subtree &subtree) {
    return workers[size_t(deviceOfMaker(subtree.sum))];
  };
  llvm::SmallVector<std::pair<int64_t, Subtrees>> byWorker; // in the order of their first shards
  for (const Subtree &subtree : sums) {
    const int64_t worker = workerOf(subtree);
    auto *known = llvm::find_if(byWorker, [&](auto &has) { return has.first == worker; });
    if (known == byWorker.end())
      known = &byWorker.emplace_back(worker, Subtrees());
    known->second.push_back(subtree);
  }
  const auto count = int64_t(byWorker.size());
  if (count < 2)
    return sums;
  Subtrees given;
  for (auto &[worker, own] : byWorker) {
    listener.set(deviceOfMaker(own.front().sum));
    Value sum = addTree(builder, loc, own);
    given.push_back({Share{count, count, int64_t(given.size()), 1},
                     give(parameter, worker, loc, sum, builder, listener)});
  }
  return given;
}

Value GradientCompression::give(llvm::StringRef parameter, int64_t worker, mlir::Location loc,
                                Value sum, mlir::OpBuilder &builder, PlacementListener &listener) {
  const int64_t device = deviceOfMaker(sum);
  listener.set(device);
  auto type = sym::rankedType(sum);
  const std::string residual = declareResidual(parameter, worker, device);
  Value kept = builder.create<sym::ReadOp>(loc, type, residual, mlir::IntegerAttr());
  auto results = fuse(builder, loc, {sum, kept}, {type, type},
                      [&](sym::ScalarEmitter &e, mlir::ValueRange in) -> Scalars {
                        Value all = e.add(in[1], in[0]), t = e.number(all.getType(), threshold),
                              minus = e.number(all.getType(), -threshold);
                        Value low = e.select(e.apply(ScalarOp::LessEqual, {all, minus}), minus,
                                             e.number(all.getType(), 0));
                        Value given = e.select(e.apply(ScalarOp::GreaterEqual, {all, t}), t, low);
                        // A non-finite residual is not hidden: the check before the commit detects
                        // it.
                        given = e.add(given, e.sub(all, all));
                        return {given, e.sub(all, given)};
                      });
  results[0].getDefiningOp()->setAttr(sym::kNameAttr, builder.getStringAttr("compress"));
  builder.create<sym::WriteOp>(loc, residual, results[1], mlir::IntegerAttr());
  return results[0];
}

/// A parameter may have several sums, each with a residual of its own.
std::string GradientCompression::declareResidual(llvm::StringRef parameter, int64_t worker,
                                                 int64_t device) {
  auto owner = symbols.lookup<sym::ParameterOp>(parameter);
  std::string slot = "residual" + std::to_string(worker);
  for (int sum = 1; symbols.lookup((parameter + "." + slot).str()); ++sum)
    slot = "residual" + std::to_string(worker) + "_" + std::to_string(sum);
  const std::string name = (parameter + "." + slot).str();
  mlir::OpBuilder builder(owner.getContext());
  builder.setInsertionPointAfter(lastDeclared);
  auto made = builder.create<sym::SlotOp>(owner.getLoc(), name, parameter, slot, owner.getType(),
                                          mlir::DenseI64ArrayAttr());
  made->setAttr(sym::kDevicesAttr, builder.getDenseI64ArrayAttr(device));
  symbols.insert(made);
  lastDeclared = made;
  return name;
}

} // namespace lstmc::passes
