#include "passes/Compile.h"

#include <algorithm>
#include <chrono>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"

#include "executor/abi/Sizes.h"
#include "executor/package/Package.h"
#include "ir/sym/Attributes.h"
#include "ir/sym/Diagnose.h"
#include "ir/sym/Location.h"
#include "ir/sym/SymOps.h"
#include "passes/CompileChecks.h"
#include "passes/PackageFacts.h"
#include "passes/Passes.h"
#include "passes/PipelineOptions.h"
#include "passes/Pipelines.h"
#include "passes/Replica.h"
#include "passes/Reproducer.h"

namespace lstmc::passes {

namespace {

using Clock = std::chrono::steady_clock;

/// A larger module is not verified after every pass, which would take as long as the passes. Its
/// plan and its package are checked like any other's.
constexpr int64_t kVerifiedOps = 50'000;

int64_t countOps(mlir::Operation *op) {
  int64_t count = 0;
  op->walk([&](mlir::Operation *) { ++count; });
  return count;
}

/// Measures passes over the module; passes over functions count to the pass that contains them.
/// Also reads the costs of ops before these are lowered to launches.
class Timer : public mlir::PassInstrumentation {
public:
  Timer(Compiled &result, const CompileOptions &options) : result(result), options(options) {}

  void runBeforePass(mlir::Pass *pass, mlir::Operation *op) override {
    if (pass->getArgument().empty())
      return;
    if (options.countOps)
      find(pass).opsBefore += known(op);
    if (auto module = llvm::dyn_cast<mlir::ModuleOp>(op))
      for (auto function : module.getOps<mlir::func::FuncOp>()) {
        if (pass->getArgument() == "make-entries")
          addShare(function);
        else if (pass->getArgument() == "lower-to-exec")
          addCost(function);
      }
    start = Clock::now();
  }
  void runAfterPass(mlir::Pass *pass, mlir::Operation *op) override {
    if (pass->getArgument().empty())
      return;
    Clock::time_point end = Clock::now();
    PassTime &time = find(pass);
    time.seconds += std::chrono::duration<double>(end - start).count();
    if (options.countOps)
      time.opsAfter += (left = {op, countOps(op)}).second;
    auto function = llvm::dyn_cast<mlir::func::FuncOp>(op);
    result.spans.push_back({time.pass, function ? function.getName().str() : "", start, end});
  }

private:
  /// Replicas in the order of their first devices; parts of one replica follow one another.
  void addShare(mlir::func::FuncOp net) {
    std::optional<Share> share = shareOf(net);
    if (!share || partOf(net) == kWhole)
      return;
    const std::string &device =
        options.devices[size_t(replicaOf(net) * options.devicesPerReplica())];
    if (result.shares.empty() || result.shares.back().device != device)
      result.shares.push_back({device, 0, share->batch, 0, share->shards});
    result.shares.back().rows += share->rows();
    result.shares.back().count += share->count;
  }

  /// Adds the cost of a part to that of the entry's parts on other devices.
  void addCost(mlir::func::FuncOp part) {
    auto found = llvm::find_if(result.costs,
                               [&](const EntryCost &cost) { return cost.entry == entryOf(part); });
    EntryCost &cost = found != result.costs.end()
                          ? *found
                          : result.costs.emplace_back(EntryCost{entryOf(part).str()});
    part.walk([&](sym::CostRule op) {
      cost.flops = sum({cost.flops, op.flops()});
      cost.movedBytes = sum({cost.movedBytes, op.movedBytes()});
    });
  }

  /// Number of ops in `op`; cached from the previous pass, if that pass ran on `op` last.
  int64_t known(mlir::Operation *op) const { return left.first == op ? left.second : countOps(op); }

  PassTime &find(mlir::Pass *pass) {
    for (PassTime &time : result.times)
      if (pass->getArgument() == llvm::StringRef(time.pass))
        return time;
    result.times.push_back({pass->getArgument().str(), 0, 0, 0});
    return result.times.back();
  }

  Compiled &result;
  const CompileOptions &options;
  Clock::time_point start;
  std::pair<mlir::Operation *, int64_t> left = {}; ///< by the last pass: on what, how many ops
};

} // namespace

int64_t CompileOptions::devicesPerReplica() const {
  int64_t most = stages > 0 ? stages : int64_t(devices.size());
  for (const auto &[group, device] : place)
    most = std::max<int64_t>(most, llvm::find(devices, device) - devices.begin() + 1);
  return most;
}

/// Reads the attribute that roll-recurrence left for the layers that it found.
static std::vector<RolledLayer> rolledLayers(mlir::ModuleOp module) {
  std::vector<RolledLayer> layers;
  auto all = module->getAttrOfType<mlir::ArrayAttr>(sym::kRolledAttr);
  if (!all)
    return layers;
  for (auto said : all.getAsRange<mlir::DictionaryAttr>()) {
    auto text = [&](llvm::StringRef key) {
      auto value = said.getAs<mlir::StringAttr>(key);
      return value ? value.str() : std::string();
    };
    layers.push_back({text("name"), text("mode"), said.getAs<mlir::IntegerAttr>("cells").getInt(),
                      text("reason"), text("rounding")});
  }
  return layers;
}

/// Lowers the module without checking memory limits.
static Checked<Compiled> lower(mlir::ModuleOp module, const CompileOptions &options) {
  Diagnostics diagnostics;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    diagnostics.push_back(sym::toDiagnostic(diagnostic));
    return mlir::success();
  });
  Compiled result;
  recordPackageFacts(module, options);
  if (options.keepSource) {
    recordSourceLines(module);
    llvm::raw_string_ostream text(result.sourceText);
    module->print(text, mlir::OpPrintingFlags().enableDebugInfo());
  }
  auto manager = mlir::PassManager::on<mlir::ModuleOp>(module.getContext());
  manager.enableVerifier(options.verifyEach && countOps(module) <= kVerifiedOps);
  buildPipeline(manager, options, &result.package);
  result.pipeline = fmt::format("builtin.module({})", pipelineText(options));
  llvm::raw_string_ostream passes(result.passes);
  manager.printAsTextualPipeline(passes);
  manager.addInstrumentation(std::make_unique<Timer>(result, options));
  if (failed(runOrReproduce(manager, module, diagnostics)))
    return diagnostics;
  result.rolled = rolledLayers(module);
  if (!options.stopAfter.empty())
    return {std::move(result), std::move(diagnostics)};
  if (options.keepExec) {
    llvm::raw_string_ostream text(result.execText);
    module.print(text);
  }
  return {std::move(result), std::move(diagnostics)};
}

Checked<Compiled> compile(mlir::ModuleOp module, const CompileOptions &options) {
  if (std::optional<Diagnostic> error = checkDevices(options))
    return Diagnostics{*error};
  std::optional<CompileOptions> less;
  if (options.stopAfter.empty() && (options.memoryLimit || !options.deviceMemory.empty()))
    less = withLessMemory(options);
  mlir::OwningOpRef<mlir::ModuleOp> source;
  if (less)
    source = module.clone();
  Checked<Compiled> compiled = lower(module, options);
  while (less && compiled.ok() && needsLessMemory(compiled->package, options)) {
    mlir::OwningOpRef<mlir::ModuleOp> again = source->clone();
    compiled = lower(*again, *less);
    module->setAttrs((*again)->getAttrDictionary());
    module.getBodyRegion().takeBody(again->getBodyRegion());
    less = withLessMemory(*less);
  }
  if (compiled.ok() && options.stopAfter.empty())
    if (std::optional<Diagnostic> error = checkSizes(compiled->package))
      return Diagnostics{*error};
  if (compiled.ok() && options.stopAfter.empty() && options.memoryLimit)
    if (Diagnostics errors = checkLimit(compiled->package, options); !errors.empty())
      return errors;
  return compiled;
}

} // namespace lstmc::passes
