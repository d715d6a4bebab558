#include "frontend/library/Compiler.h"

#include "frontend/cli/CommandResult.h"
#include "frontend/cli/Model.h"
#include "frontend/cli/Options.h"
#include "frontend/symbol/Copy.h"

namespace lstmc {

namespace {

Result<cli::Options> optionsOf(const std::string &operand, const std::vector<std::string> &flags) {
  std::vector<std::string> words = {"lstmc", "compile"};
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  LSTMC_ASSIGN(cli::Options options, cli::parseOptions(int(arguments.size()), arguments.data()));
  options.operands = {operand};
  return options;
}

CompiledPackage bytesOf(const Checked<cli::Model> &model) {
  if (!model.ok())
    return model.diagnostics();
  return {package::serialize(model->package->data()), model->warnings};
}

} // namespace

static CompiledPackage compiled(std::unique_ptr<symbol::Graph> graph,
                                const std::vector<std::string> &flags) {
  symbol::Network net;
  net.net = graph->name();
  net.nets = {net.net};
  net.graph = std::move(graph);
  LSTMC_CHECKED_ASSIGN(const cli::Options options, optionsOf(net.net, flags));
  return bytesOf(cli::compileNet(std::move(net), options, {}));
}

CompiledPackage compileGraph(std::unique_ptr<symbol::Graph> graph,
                             const std::vector<std::string> &flags) {
  return compiled(std::move(graph), flags);
}

CompiledPackage compile(const build::Net &net, const std::vector<std::string> &flags) {
  if (!net.errors().empty())
    return net.errors();
  if (!net.isFinished()) {
    Diagnostic unfinished;
    unfinished.code = ErrorCode::E0099;
    unfinished.message = "the net \"" + net.graph().name() + "\" is not finished";
    return unfinished;
  }
  return compiled(symbol::copyOf(net.graph()), flags);
}

CompiledPackage compileFile(const std::string &path, const std::vector<std::string> &flags) {
  LSTMC_CHECKED_ASSIGN(const cli::Options options, optionsOf(path, flags));
  return bytesOf(cli::loadModel(options, {}));
}

} // namespace lstmc
