// compile: a network into a package on disk.
#include "frontend/cli/Compile.h"

#include <memory>

#include "llvm/Support/BuryPointer.h"

#include "executor/base/OutputFile.h"
#include "executor/data/SafeTensors.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/PlanText.h"
#include "frontend/cli/RolledText.h"

namespace lstmc::cli {

/// The weights of --params, under the package's own names, beside it.
static Status writeWeights(const Model &model, const Options &options, const std::string &path) {
  LSTMC_ASSIGN(std::unique_ptr<Session> session, openSession(model, options));
  std::vector<data::NamedTensor> tensors;
  for (const package::Parameter &parameter : session->package().data().parameters) {
    LSTMC_ASSIGN(Tensor tensor, session->parameter(parameter.name));
    tensors.push_back({parameter.name, tensor});
  }
  return data::writeSafeTensors(path, tensors, options.existing());
}

/// What is told of the plan before the package is written.
static void sayPlan(const Model &model, const Options &options, Console &console) {
  const passes::Compiled &compiled = *model.compiled;
  if (options.printPassTimes)
    for (const passes::PassTime &time : compiled.times)
      console.say(fmt::format("{:>10.3f} ms  {:<24} {:>8} -> {:>8} ops", time.seconds * 1e3,
                              time.pass, time.opsBefore, time.opsAfter));
  if (!console.json() && !compiled.shares.empty())
    console.say(sharesLine(compiled.shares, *options.workLoadList));
  if (!model.recomputed.empty())
    console.say(model.recomputed);
  if (!console.json() && !compiled.layouts.empty())
    console.say(layoutsText(compiled.layouts, 3));
  if (!console.json())
    for (const passes::RolledLayer &layer : compiled.rolled)
      if (!layer.reason.empty())
        console.say(rolledLine(layer));
  if (!console.json())
    console.say(planTable(model.package->data()));
}

static Status writePackage(const Model &model, const Options &options, Console &console) {
  const std::string &output = *options.output;
  std::string_view text(reinterpret_cast<const char *>(model.bytes.data()), model.bytes.size());
  if (output == "-")
    console.write(text);
  else
    LSTMC_TRY(writeFile(output, text, options.existing()));
  if (!options.params)
    return {};
  std::string base = output.ends_with(".lstmc") ? output.substr(0, output.size() - 6) : output;
  return writeWeights(model, options, base + ".safetensors");
}

Checked<Model> compilePackage(const Options &options, Trace &trace, Console &console) {
  ModelRequest request;
  request.forAnyMachine = true;
  request.countOps = options.printPassTimes;
  LSTMC_CHECKED_ASSIGN(Model model, loadModel(options, request));
  console.warn(model.warnings);
  if (!model.compiled)
    return asDiagnostic(fail(ErrorCode::E0001, "{} is a package already", model.path));
  trace.passes(model.compiled->spans);
  sayPlan(model, options, console);
  if (!options.dryRun)
    LSTMC_CHECKED_TRY(writePackage(model, options, console));
  return model;
}

std::string packageLine(const Model &model, const Options &options) {
  std::string line =
      fmt::format("{}  {} bytes", options.output.value_or("(dry run)"), model.package->bytes());
  for (const package::Device &device : model.package->data().devices)
    line += fmt::format("  {} peak {}", device.name, bytesText(device.arenaBytes));
  return line;
}

/// A package under the name of another format would be taken for one.
static Status checkName(const std::string &output) {
  struct Format {
    std::string_view suffix, remedy;
  };
  static constexpr Format kFormats[] = {
      {".onnx", "ONNX is not written"},
      {".json", "the plan as JSON is what --json prints"},
      {".params", "weights are written beside a package: --params CHECKPOINT"},
      {".safetensors", "weights are written beside a package: --params CHECKPOINT"},
      {".npz", "weights are written beside a package: --params CHECKPOINT"},
      {".pt", "files of PyTorch are not written"},
      {".pth", "files of PyTorch are not written"},
      {".h5", "files of Keras are not written"},
      {".keras", "files of Keras are not written"},
      {".pb", "files of TensorFlow are not written"},
      {".tflite", "files of TensorFlow are not written"},
      {".so", "a package holds no code; liblstmc.so runs it"},
      {".o", "a package holds no code; liblstmc.so runs it"},
      {".lnet", "lstmc inspect --emit lnet prints the network as a source"},
      {".mlir", "lstmc inspect --emit sym prints the network as MLIR"},
      {".dot", "lstmc plot draws the network"},
      {".svg", "lstmc plot draws the network"}};
  for (const Format &format : kFormats)
    if (output.ends_with(format.suffix))
      return fail(ErrorCode::E0001, "compile writes a package, -o F.lstmc, and got {}: {}", output,
                  format.remedy);
  return {};
}

CommandResult compileCommand(const Options &options, Console &console) {
  if (!options.output && !options.dryRun)
    return fail(ErrorCode::E0001, "compile writes a package: -o F.lstmc");
  LSTMC_CHECKED_TRY(checkName(options.output.value_or("")));
  if (options.output == "-" && options.params)
    return fail(ErrorCode::E0001, "--params goes to a file beside the package, and there is none "
                                  "beside stdout: -o F.lstmc");
  Trace trace(options);
  LSTMC_CHECKED_ASSIGN(Model model, compilePackage(options, trace, console));
  LSTMC_CHECKED_TRY(trace.write(console, nullptr));
  if (console.json())
    console.print(planJson(model.package->data()));
  else if (options.output != "-")
    console.print(packageLine(model, options));
  // The process ends, and to free millions of small objects is a fiftieth of a large compilation.
  llvm::BuryPointer(std::make_unique<Model>(std::move(model)));
  return ExitCode::Ok;
}

} // namespace lstmc::cli
