#include "frontend/lnet/Load.h"

#include "frontend/lnet/net/Evaluator.h"
#include "frontend/lnet/text/Stack.h"

namespace lstmc::lnet {

namespace {

Checked<symbol::Network> run(const std::string &path, const std::optional<std::string> &text,
                             const LoadOptions &options) {
  std::optional<symbol::Network> loaded;
  Diagnostics diagnostics;
  runOnDeepStack([&] {
    // `--shape` sets the values of dims before line 1 runs, but which dims the inputs of the net
    // have is known only after a run. So the file runs twice; the first run reports nothing.
    std::map<std::string, int64_t> dims;
    if (!options.shapes.empty()) {
      Problems silent;
      Evaluator probe(options, silent);
      if (Module *module = probe.runMain(path, text); module && !module->broken)
        dims = probe.dimsOfShapes(*module);
    }
    // A large net is rehearsed first, so that one beyond the limit of nodes is rejected without
    // building it.
    for (bool rehearses : {true, false}) {
      Problems problems;
      Evaluator evaluator(options, problems, rehearses);
      evaluator.giveDims(dims);
      Module *module = evaluator.runMain(path, text);
      if (module && !module->broken)
        loaded = evaluator.drawNet(*module);
      if (evaluator.inVain())
        continue;
      diagnostics = problems.take(options.limits.errors, options.werror);
      if (problems.any())
        loaded.reset();
      break;
    }
  });
  if (!loaded)
    return diagnostics;
  return {std::move(*loaded), std::move(diagnostics)};
}

} // namespace

Checked<symbol::Network> load(const std::string &path, const LoadOptions &options) {
  return run(path, std::nullopt, options);
}

Checked<symbol::Network> loadText(const std::string &name, std::string text,
                                  const LoadOptions &options) {
  return run(name, std::move(text), options);
}

} // namespace lstmc::lnet
