#include "frontend/library/Compiler.h"

#include <mutex>

#include "frontend/driver/Model.h"
#include "frontend/library/GraphSettings.h"
#include "frontend/library/Request.h"
#include "frontend/symbol/Copy.h"

namespace lstmc {

namespace {

std::mutex compiling;

/// Bytes of the package that `compile` returns; holds the lock, so that no other thread compiles.
template <typename Compile> CompiledPackage bytesOf(Compile compile) {
  std::lock_guard lock(compiling);
  const Checked<driver::Model> model = compile();
  if (!model.ok())
    return model.diagnostics();
  return {package::serialize(model->package->data()), model->warnings};
}

} // namespace

/// The package is the program's, which may run it anywhere.
static driver::ModelRequest forAnyMachine() {
  driver::ModelRequest request;
  request.forAnyMachine = true;
  return request;
}

static CompiledPackage compiled(std::unique_ptr<symbol::Graph> graph,
                                const CompileOptions &options) {
  symbol::Network net;
  net.net = graph->name();
  net.nets = {net.net};
  net.fit = graph->fit();
  net.data = graph->data();
  net.graph = std::move(graph);
  if (Diagnostics errors = checkSettings(*net.graph); !errors.empty())
    return errors;
  LSTMC_CHECKED_ASSIGN(const driver::CompileRequest request, requestOf(options, Source::Graph));
  return bytesOf([&] { return driver::compileNet(std::move(net), "", request, forAnyMachine()); });
}

CompiledPackage compileGraph(std::unique_ptr<symbol::Graph> graph, const CompileOptions &options) {
  return compiled(std::move(graph), options);
}

CompiledPackage compile(const build::Net &net, const CompileOptions &options) {
  if (!net.errors().empty())
    return net.errors();
  if (!net.isFinished()) {
    Diagnostic unfinished;
    unfinished.code = ErrorCode::E0318;
    unfinished.message = "the net \"" + net.graph().name() + "\" is not finished";
    return unfinished;
  }
  return compiled(symbol::copyOf(net.graph()), options);
}

CompiledPackage compileFile(const std::string &path, const CompileOptions &options) {
  LSTMC_CHECKED_ASSIGN(const driver::CompileRequest request, requestOf(options, Source::File));
  return bytesOf([&] { return driver::loadModel(path, request, forAnyMachine()); });
}

} // namespace lstmc
