// import: weights that were trained elsewhere become a network and its weights.

#include <filesystem>

#include "executor/base/Escape.h"
#include "executor/base/OutputFile.h"
#include "executor/data/SafeTensors.h"
#include "frontend/cli/Commands.h"
#include "frontend/cli/Model.h"
#include "frontend/lnet/format/Format.h"
#include "frontend/torch/StateDict.h"

namespace lstmc::cli {

namespace {

torch::Recurrence recurrenceOf(std::string_view kind) {
  return kind == "torch-gru"        ? torch::Recurrence::Gru
         : kind == "torch-rnn"      ? torch::Recurrence::RnnTanh
         : kind == "torch-rnn-relu" ? torch::Recurrence::RnnRelu
                                    : torch::Recurrence::Lstm;
}

std::vector<std::string> itemsOf(const std::string &list) {
  std::vector<std::string> items;
  for (size_t begin = 0; begin < list.size();) {
    size_t end = std::min(list.find(',', begin), list.size());
    items.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

/// Where what is imported goes: F.lnet, F.weights.safetensors, and F.lstmc where that is asked for.
struct Outputs {
  std::string network, weights;
  std::optional<std::string> package;
};

Result<Outputs> outputsOf(const std::string &output) {
  for (std::string_view suffix : {".lnet", ".lstmc"})
    if (output.size() > suffix.size() && output.ends_with(suffix)) {
      std::string base = output.substr(0, output.size() - suffix.size());
      Outputs outputs{base + ".lnet", base + ".weights.safetensors", {}};
      if (suffix == ".lstmc")
        outputs.package = output;
      return outputs;
    }
  return fail(ErrorCode::E0001, "import writes F.lnet or F.lstmc, got -o {}", output);
}

/// The package, as `compile` makes it of the network.
int compileImported(const Outputs &outputs, const Options &options, Console &console) {
  Options compile = options.with("output", *outputs.package);
  compile.command = "compile";
  compile.operands = {outputs.network};
  return compileCommand(compile, console);
}

} // namespace

int importCommand(const Options &options, Console &console) {
  if (options.operands.size() != 1)
    return console.fail(
        fail(ErrorCode::E0001, "import takes one FILE, got {}", options.operands.size()));
  std::optional<std::string> kind = options.value("as"), output = options.value("output");
  if (!kind || !output)
    return console.fail(fail(ErrorCode::E0001, "import needs {}",
                             kind ? "-o F.lnet or -o F.lstmc"
                                  : "--as, what the weights are of: torch-lstm, torch-gru, "
                                    "torch-rnn or torch-rnn-relu"));
  Result<Outputs> outputs = outputsOf(*output);
  if (!outputs.ok())
    return console.fail(outputs.error());
  Result<lnet::LoadOptions> load = loadOptions(options, {});
  if (!load.ok())
    return console.fail(load.error());

  Result<data::SafeTensors> file = data::SafeTensors::load(options.operands[0]);
  if (!file.ok())
    return console.fail(file.error());
  torch::ImportRequest request{.recurrence = recurrenceOf(*kind),
                               .order = itemsOf(options.value("modules").value_or("")),
                               .batchFirst = options.text("layout") == "NTC"};
  Result<torch::Imported> imported = torch::importStateDict(*file, request);
  if (!imported.ok())
    return console.fail(imported.error());
  std::string text =
      fmt::format("# {}, brought in by: lstmc import --as {}\n{}",
                  escaped(std::filesystem::path(options.operands[0]).filename().string()), *kind,
                  imported->text);
  Checked<std::string> formatted = lnet::format(outputs->network, text, load->limits);
  if (!formatted.ok())
    return console.fail(formatted.diagnostics());

  for (const std::string &module : imported->modules)
    console.say(module);
  if (!options.has("dry-run")) {
    if (Status status = writeFile(outputs->network, *formatted, options.existing()); !status.ok())
      return console.fail(status.error());
    if (Status status =
            data::writeSafeTensors(outputs->weights, imported->weights, options.existing());
        !status.ok())
      return console.fail(status.error());
    if (outputs->package)
      return compileImported(*outputs, options, console);
  }
  if (console.json())
    console.print(nlohmann::ordered_json{{"schema", "lstmc.import/1"},
                                         {"network", outputs->network},
                                         {"weights", outputs->weights},
                                         {"modules", imported->modules}});
  else
    console.print(fmt::format("{}  {}", outputs->network, outputs->weights));
  return 0;
}

} // namespace lstmc::cli
