// PREFIX-symbol.json and PREFIX-NNNN.params: a network and its weights as MXNet's programs keep
// them.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "executor/base/OutputFile.h"
#include "executor/data/Array.h"
#include "executor/package/PackageData.h"
#include "executor/training/TrainEvents.h"
#include "frontend/cli/Console.h"
#include "frontend/symbol/Network.h"

namespace lstmc::cli {

std::string symbolFile(const std::string &prefix);
/// "net-0003.params"
std::string weightsFile(const std::string &prefix, int64_t epoch);

/// Writes the network; gives warnings. Initialisers that lstmc does not know stay as they are.
Result<std::vector<std::string>> writeNetwork(const std::string &prefix,
                                              const symbol::Network &network,
                                              OutputFile::Existing existing);

/// Writes the weights, under `arg:` and of auxiliary states `aux:`. `weights` are by the names of
/// the package's parameters.
Status writeWeights(const std::string &path, const package::PackageData &package,
                    std::span<const data::NamedTensor> weights, OutputFile::Existing existing);

/// Writes the weights of each checkpoint of a training that ends an epoch, and of the last one, as
/// those of the epoch that it is in: the first is 1.
class ModelFiles : public training::TrainObserver {
public:
  /// `before`: epochs that the weights have seen before this training.
  ModelFiles(const Console &console, const package::PackageData &package, std::string prefix,
             int64_t before, OutputFile::Existing existing)
      : console_(console), package_(package), prefix_(std::move(prefix)), before_(before),
        existing_(existing) {}

  void save(const training::SaveEvent &event) override;

private:
  Status write(const training::SaveEvent &event);

  const Console &console_;
  const package::PackageData &package_;
  std::string prefix_;
  int64_t before_;
  OutputFile::Existing existing_;
  std::set<std::string> written_; ///< an epoch's later checkpoints replace its earlier ones
};

} // namespace lstmc::cli
