#include "frontend/symbol/Copy.h"

#include "mlir/Parser/Parser.h"

#include "frontend/symbol/Impl.h"

namespace lstmc::symbol {

std::unique_ptr<Graph> copyOf(const Graph &graph) {
  auto copy = std::make_unique<Graph>(graph.name());
  Graph::Impl &impl = copy->impl();
  impl.module = mlir::parseSourceString<mlir::ModuleOp>(graph.text(true), &impl.context);
  impl.function = *impl.module->getOps<mlir::func::FuncOp>().begin();
  impl.body = &impl.function.front();
  llvm::append_range(impl.outputs, impl.body->getTerminator()->getOperands());
  impl.finished = true;
  impl.fit = graph.fit();
  impl.data = graph.data();
  return copy;
}

} // namespace lstmc::symbol
