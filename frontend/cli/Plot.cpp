// plot: a network or a memory plan as a picture.

#include "executor/base/OutputFile.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Model.h"
#include "frontend/symbol/Module.h"
#include "viz/Dot.h"
#include "viz/MemoryChart.h"
#include "viz/Network.h"

namespace lstmc::cli {

static std::string suffixOf(const std::string &path) {
  size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(dot + 1);
}

static int writePicture(const std::string &picture, const Options &options, Console &console) {
  std::optional<std::string> output = options.value("output");
  if (!output || *output == "-") {
    fmt::print("{}", picture);
    return 0;
  }
  if (options.has("dry-run"))
    return 0;
  if (Status status = writeFile(*output, picture, options.existing()); !status.ok())
    return console.fail(status.error());
  if (console.json())
    console.print(nlohmann::ordered_json{{"schema", "lstmc.plot/1"}, {"file", *output}, {"bytes", picture.size()}});
  else
    console.print(*output);
  return 0;
}

static int plotNetwork(const Options &options, Console &console, const std::string &suffix) {
  viz::NetworkOptions drawing;
  drawing.shapes = false;
  for (const std::string &word : splitCommas(options.text("show"))) {
    if (word != "shapes" && word != "memory" && word != "device")
      return console.fail(fail(ErrorCode::E0001, "--show knows shapes, memory and device, got \"{}\"{}", word,
                               didYouMean(word, {"shapes", "memory", "device"})));
    drawing.shapes |= word == "shapes";
    drawing.memory |= word == "memory";
    if (word == "device")
      drawing.device = "cpu:0"; // the one that programs are made for so far
  }
  drawing.allOps = options.text("unfold") == "layer";
  if (options.operands.size() != 1 || !isSource(options.operands[0]))
    return console.fail(fail(ErrorCode::E0001, "plot --what network takes one .lnet file; packages and checkpoints hold launches and no layers, and have --what memory"));
  Result<lnet::LoadOptions> load = loadOptions(options, {});
  if (!load.ok())
    return console.fail(load.error());
  Checked<lnet::LoadedNet> net = loadSource(options.operands[0], *load);
  if (!net.ok())
    return console.fail(net.diagnostics());
  console.warn(net.diagnostics());
  mlir::OwningOpRef<mlir::ModuleOp> module = symbol::takeModule(*net->graph);
  std::string dot = viz::networkDot(*module, drawing);
  if (suffix == "dot" || suffix.empty())
    return writePicture(dot, options, console);
  Result<std::string> picture = viz::render(dot, suffix);
  return picture.ok() ? writePicture(*picture, options, console) : console.fail(picture.error());
}

int plotCommand(const Options &options, Console &console) {
  std::string what = options.text("what");
  std::string suffix = suffixOf(options.text("output"));
  if (suffix != "" && suffix != "dot" && suffix != "svg" && suffix != "png" && suffix != "pdf")
    return console.fail(fail(ErrorCode::E0001, "plot writes .dot, .svg, .png and .pdf, got \".{}\"", suffix));
  if (what == "network")
    return plotNetwork(options, console, suffix);
  if (suffix != "svg" && suffix != "")
    return console.fail(fail(ErrorCode::E0001, "a memory plan is drawn as .svg, got \".{}\"", suffix));
  Checked<Model> model = loadModel(options, {});
  if (!model.ok())
    return console.fail(model.diagnostics());
  return writePicture(viz::memoryChart(model->package->data()), options, console);
}

} // namespace lstmc::cli
