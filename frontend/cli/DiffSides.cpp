#include "frontend/cli/DiffSides.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/ranges.h>

#include "executor/data/ArrayFile.h"
#include "executor/data/Npy.h"
#include "executor/data/SafeTensors.h"
#include "executor/package/Package.h"
#include "executor/package/Plan.h"
#include "executor/training/Checkpoint.h"
#include "frontend/cli/Operand.h"

namespace lstmc::cli {

namespace {

using Lines = std::map<std::string, package::Location>; ///< of parameters

Lines linesOf(const package::PackageData &data) {
  Lines lines;
  for (const package::Parameter &parameter : data.parameters)
    lines[parameter.name] = data.locations[parameter.location];
  return lines;
}

void addTensors(DiffSide &side, const data::SafeTensors &file, const std::string &prefix,
                const Lines &lines) {
  for (const data::TensorRecord &record : file.records()) {
    // A slot is "PARAMETER/SLOT" or the like: the line is the parameter's.
    auto line = lines.find(record.name.substr(0, record.name.find('/')));
    side.items.push_back({prefix + record.name, file.array(record), "",
                          line == lines.end() ? package::Location() : line->second});
  }
}

Status addCheckpoint(DiffSide &side, const Options &options) {
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(side.path, limits));
  const training::Checkpoint &checkpoint = found.checkpoint;
  Lines lines;
  if (auto attached = checkpoint.attachments.find("model.lstmc");
      attached != checkpoint.attachments.end()) {
    LSTMC_ASSIGN(package::Package::Pointer package,
                 package::Package::open(attached->second, checkpoint.folder + "/model.lstmc"));
    lines = linesOf(package->data());
  }
  addTensors(side, checkpoint.model, "", lines);
  addTensors(side, checkpoint.optimizer, "optimizer/", lines);
  if (checkpoint.states)
    addTensors(side, *checkpoint.states, "states/", {});
  return {};
}

std::string launchText(const package::PackageData &data, const package::Launch &launch) {
  std::string text = fmt::format("{} ints [{}] floats [{}]", kernelRecord(launch.kernel).name,
                                 fmt::join(launch.ints, ", "), fmt::join(launch.floats, ", "));
  for (const package::Operand &operand : launch.operands)
    if (operand.buffer == package::kNoBuffer)
      text += " -";
    else
      text += fmt::format(" {}+{}[{}]({})", data.buffers[operand.buffer].name, operand.offset,
                          fmt::join(operand.shape, ", "), fmt::join(operand.strides, ", "));
  return text;
}

/// What it says, but for who made it and where buffers are: two that carry out the same are equal.
void addFacts(DiffSide &side, const package::PackageData &data) {
  auto add = [&](std::string name, std::string text, uint32_t location = 0) {
    side.items.push_back({std::move(name), {}, std::move(text), data.locations[location]});
    if (location == 0)
      side.items.back().location = {};
  };
  add("net", data.net);
  add("graph", data.graphHash);
  add("numerics", data.numerics);
  add("shards", fmt::format("{}", data.shards));
  for (const auto &[kind, settings] :
       {std::pair("setting", &data.settings), {"fit", &data.fit}, {"data", &data.data}})
    for (size_t i = 0; i < settings->size(); ++i)
      add(fmt::format("{} {} ({})", kind, (*settings)[i].name, i), (*settings)[i].value);
  for (const package::Device &device : data.devices)
    add("device " + device.name, fmt::format("{} bytes", device.arenaBytes));
  for (const package::Parameter &parameter : data.parameters) {
    const package::Buffer &buffer = data.buffers[parameter.buffers[0]];
    add("parameter " + parameter.name,
        fmt::format("{} on {} devices, {}", package::typeText(buffer.dtype, buffer.shape),
                    parameter.buffers.size(), parameter.init),
        parameter.location);
  }
  for (const package::Entry &entry : data.entries)
    for (const package::DeviceProgram &program : entry.programs) {
      std::string name =
          fmt::format("entry {} on {}", entry.name, data.devices[program.device].name);
      add(name, fmt::format("{} launches", program.launches.size()));
      for (size_t i = 0; i < program.launches.size(); ++i)
        add(fmt::format("{}, launch {}", name, i), launchText(data, program.launches[i]),
            program.launches[i].location);
    }
}

Status addPackage(DiffSide &side, const Options &options) {
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  LSTMC_ASSIGN(package::Package::Pointer package, package::Package::open(side.path));
  addFacts(side, package->data());
  std::string beside = std::filesystem::path(side.path).replace_extension(".safetensors").string();
  if (std::error_code error; std::filesystem::exists(beside, error)) {
    LSTMC_ASSIGN(data::SafeTensors file, data::SafeTensors::load(beside, limits));
    addTensors(side, file, "", linesOf(package->data()));
  }
  return {};
}

Status addArrays(DiffSide &side, const Options &options) {
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  if (data::ArrayFile::isFormat(side.path)) {
    LSTMC_ASSIGN(data::ArrayFile::Pointer file, data::ArrayFile::load(side.path, limits));
    for (size_t i = 0; i < file->size(); ++i)
      if (std::optional<data::Array> array = file->array(i))
        side.items.push_back({file->name(i), std::move(*array), "", {}});
  } else if (side.path.ends_with(".npy")) {
    LSTMC_ASSIGN(data::Array array, data::loadNpy(side.path, limits));
    side.items.push_back({"array", std::move(array), "", {}});
  } else {
    return failAt({side.path}, ErrorCode::E0613,
                  "found no kind of file that diff compares, want a checkpoint folder, .lstmc, "
                  ".safetensors, .npz, .params or .npy");
  }
  return {};
}

} // namespace

Result<DiffSide> diffSide(const std::string &path, const Options &options) {
  DiffSide side{path, {}};
  std::error_code error;
  LSTMC_TRY(std::filesystem::is_directory(path, error) ? addCheckpoint(side, options)
            : path.ends_with(".lstmc")                 ? addPackage(side, options)
                                                       : addArrays(side, options));
  return side;
}

} // namespace lstmc::cli
