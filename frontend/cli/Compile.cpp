// compile: a network into a package on disk.

#include <algorithm>
#include <filesystem>

#include "executor/base/OutputFile.h"
#include "executor/data/SafeTensors.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Model.h"
#include "frontend/cli/PlanText.h"
#include "frontend/cli/Trace.h"

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

int compileCommand(const Options &options, Console &console) {
  std::optional<std::string> output = options.value("output");
  if (!output && !options.has("dry-run"))
    return console.fail(fail(ErrorCode::E0001, "compile writes a package: -o F.lstmc"));
  if (output == "-" && options.has("params"))
    return console.fail(fail(ErrorCode::E0001, "--params goes to a file beside the package, and "
                                               "there is none beside stdout: -o F.lstmc"));
  Trace trace(options);
  Checked<Model> model = loadModel(options, {});
  if (!model.ok())
    return console.fail(model.diagnostics());
  console.warn(model->warnings);
  if (!model->compiled)
    return console.fail(fail(ErrorCode::E0001, "{} is a package already", model->path));

  trace.passes(model->compiled->spans);
  package::Bytes bytes = package::serialize(model->compiled->package);
  if (options.has("print-pass-times"))
    for (const passes::PassTime &time : model->compiled->times)
      console.say(fmt::format("{:>10.3f} ms  {:<24} {:>8} -> {:>8} ops", time.seconds * 1e3,
                              time.pass, time.opsBefore, time.opsAfter));
  if (!console.json() && !model->compiled->shares.empty())
    console.say(sharesLine(model->compiled->shares, options.value("work-load-list").value_or("")));
  if (!model->recomputed.empty())
    console.say(model->recomputed);
  if (!console.json() && !model->compiled->layouts.empty())
    console.say(layoutsText(model->compiled->layouts, 3));
  if (!console.json())
    console.say(planTable(model->package->data()));
  if (!options.has("dry-run")) {
    std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    if (*output == "-")
      console.write(text);
    else if (Status status = writeFile(*output, text, options.existing()); !status.ok())
      return console.fail(status.error());
    if (options.has("params")) {
      std::string base =
          output->ends_with(".lstmc") ? output->substr(0, output->size() - 6) : *output;
      if (Status status = writeWeights(*model, options, base + ".safetensors"); !status.ok())
        return console.fail(status.error());
    }
  }
  if (Status status = trace.write(console); !status.ok())
    return console.fail(status.error());
  if (console.json()) {
    console.print(planJson(model->package->data()));
  } else if (!output || *output != "-") {
    std::string peaks;
    for (const package::Device &device : model->package->data().devices)
      peaks += fmt::format("  {} peak {}", device.name, bytesText(device.arenaBytes));
    console.print(fmt::format("{}  {} bytes{}", output.value_or("(dry run)"), bytes.size(), peaks));
  }
  return 0;
}

} // namespace lstmc::cli
