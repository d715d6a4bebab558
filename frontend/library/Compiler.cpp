#include "frontend/library/Compiler.h"

#include <algorithm>
#include <mutex>

#include "frontend/cli/CommandResult.h"
#include "frontend/cli/Model.h"
#include "frontend/cli/Options.h"
#include "frontend/library/GraphSettings.h"
#include "frontend/symbol/Copy.h"

namespace lstmc {

namespace {

enum class Source { Graph, File };

/// Whether a flag of `lstmc compile` affects the package of such a source. Flags for output files,
/// printing and logs do not apply to the library.
bool hasEffect(const cli::FlagRecord &flag, Source source) {
  using cli::Flag;
  static constexpr Flag kOfFiles[] = {Flag::shape, Flag::set,     Flag::net,
                                      Flag::batch, Flag::include, Flag::allowData};
  static constexpr Flag kOthers[] = {Flag::devices, Flag::mem,   Flag::entry, Flag::optimizer,
                                     Flag::fit,     Flag::limit, Flag::werror};
  if (std::ranges::find(kOfFiles, flag.flag) != std::end(kOfFiles))
    return source == Source::File;
  return flag.group == cli::FlagGroup::Compiled ||
         std::ranges::find(kOthers, flag.flag) != std::end(kOthers);
}

Status checkEffects(const cli::Options &options, Source source) {
  if (!options.operands.empty())
    return fail(ErrorCode::E0001, "\"{}\" is no flag", options.operands.front());
  for (const cli::GivenValue &given : options.given)
    if (given.origin == cli::ValueOrigin::Flag && !hasEffect(*given.record, source))
      return fail(ErrorCode::E0001, "--{} {}", given.record->name,
                  given.record->group == cli::FlagGroup::Compiled
                      ? "is for files: a graph has the shapes and values that it was built with"
                      : "is of the command and changes nothing of a package");
  return {};
}

Result<cli::Options> optionsOf(const std::string &operand, Source source,
                               const std::vector<std::string> &flags) {
  std::vector<std::string> words = {"lstmc", "compile"};
  words.insert(words.end(), flags.begin(), flags.end());
  std::vector<char *> arguments;
  for (std::string &word : words)
    arguments.push_back(word.data());
  LSTMC_ASSIGN(cli::Options options, cli::parseOptions(int(arguments.size()), arguments.data()));
  LSTMC_TRY(checkEffects(options, source));
  options.operands = {operand};
  return options;
}

std::mutex compiling;

/// Bytes of the package that `compile` returns; holds the lock, so that no other thread compiles.
template <typename Compile> CompiledPackage bytesOf(Compile compile) {
  std::lock_guard lock(compiling);
  const Checked<cli::Model> model = compile();
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
  net.fit = graph->fit();
  net.data = graph->data();
  net.graph = std::move(graph);
  if (Diagnostics errors = checkSettings(*net.graph); !errors.empty())
    return errors;
  LSTMC_CHECKED_ASSIGN(const cli::Options options, optionsOf(net.net, Source::Graph, flags));
  return bytesOf([&] { return cli::compileNet(std::move(net), options, {}); });
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
    unfinished.code = ErrorCode::E0318;
    unfinished.message = "the net \"" + net.graph().name() + "\" is not finished";
    return unfinished;
  }
  return compiled(symbol::copyOf(net.graph()), flags);
}

CompiledPackage compileFile(const std::string &path, const std::vector<std::string> &flags) {
  LSTMC_CHECKED_ASSIGN(const cli::Options options, optionsOf(path, Source::File, flags));
  return bytesOf([&] { return cli::loadModel(options, {}); });
}

} // namespace lstmc
