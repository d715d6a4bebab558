#include "frontend/cli/ModelFiles.h"

#include <algorithm>
#include <cmath>

#include "executor/training/Checkpoint.h"
#include "frontend/cli/LostOutput.h"
#include "frontend/importers/mxnet/ParamsWriter.h"
#include "frontend/importers/mxnet/SymbolWriter.h"

namespace lstmc::cli {

std::string symbolFile(const std::string &prefix) { return prefix + "-symbol.json"; }

std::string weightsFile(const std::string &prefix, int64_t epoch) {
  return fmt::format("{}-{:04}.params", prefix, epoch);
}

Result<std::vector<std::string>> writeNetwork(const std::string &prefix,
                                              const symbol::Network &network,
                                              OutputFile::Existing existing) {
  namespace mxnet = importers::mxnet;
  const symbol::GraphView view = symbol::view(*network.graph);
  mxnet::SymbolMarks marks = mxnet::marksOf(view);
  for (const symbol::UnknownInitialiser &unknown : network.unknownInitialisers)
    marks.nodes[unknown.parameter]["__init__"] = unknown.text;
  LSTMC_ASSIGN(mxnet::SymbolText symbol, mxnet::writeSymbol(view, marks));
  LSTMC_TRY(writeFile(symbolFile(prefix), symbol.text, existing));
  return std::move(symbol.warnings);
}

Status writeWeights(const std::string &path, const package::PackageData &package,
                    std::span<const data::NamedTensor> weights, OutputFile::Existing existing) {
  std::vector<data::NamedTensor> named;
  for (const package::Parameter &parameter : package.parameters) {
    const auto found = std::ranges::find(weights, parameter.name, &data::NamedTensor::name);
    if (found != weights.end())
      named.push_back({(parameter.auxiliary ? "aux:" : "arg:") + found->name, found->tensor});
  }
  return importers::mxnet::writeParams(path, named, existing);
}

void ModelFiles::save(const training::SaveEvent &event) {
  if (Status status = write(event); !status.ok())
    reportLost(status.error());
}

Status ModelFiles::write(const training::SaveEvent &event) {
  constexpr double kRounding = 1e-9; // of a sum of shares of an epoch
  const auto epoch = std::max<int64_t>(1, int64_t(std::ceil(event.progress.epoch - kRounding)));
  const std::string path = weightsFile(prefix_, before_ + epoch);
  LSTMC_ASSIGN(training::Checkpoint checkpoint, training::readCheckpoint(event.path));
  std::vector<data::Array> arrays;
  std::vector<data::NamedTensor> weights;
  const std::vector<data::TensorRecord> &records = checkpoint.model.records();
  arrays.reserve(records.size());
  for (const data::TensorRecord &record : records) {
    arrays.push_back(checkpoint.model.array(record));
    weights.push_back({record.name, arrays.back().tensor()});
  }
  const bool isAgain = !written_.insert(path).second;
  LSTMC_TRY(
      writeWeights(path, package_, weights, isAgain ? OutputFile::Existing::Replace : existing_));
  console_.say(fmt::format("weights   {}", path), 1);
  return {};
}

} // namespace lstmc::cli
