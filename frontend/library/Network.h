// What the C interface calls a network: a source, or a graph that calls have built.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "executor/data/Array.h"
#include "frontend/driver/Model.h"
#include "frontend/importers/Importer.h"
#include "frontend/library/Options.h"
#include "frontend/symbol/Network.h"

/// Immutable but for what is found out once.
struct lstmc_network {
  /// What is known without options; none of a source that leaves shapes open.
  struct Known {
    struct Argument {
      std::string name, role;
      lstmc::DType dtype;
      lstmc::symbol::Shape shape;
    };
    std::vector<Argument> arguments;
    std::vector<std::string> outputs;
    std::string hash, lnet;
  };

  std::optional<lstmc::importers::Source> source; ///< none: built
  lstmc::library::Options given;                  ///< dims and shapes that a source was opened with
  std::vector<lstmc::data::NamedArray> weights;   ///< that came with a source
  std::unique_ptr<lstmc::symbol::Graph> graph;    ///< built
  std::optional<Known> known;

  lstmc::library::Kind kind() const {
    return source ? lstmc::library::Kind::Source : lstmc::library::Kind::Built;
  }
};

namespace lstmc::library {

/// What the compiler changes is the process's where there is no memory, so one works at a time.
std::mutex &compilerLock();

/// The network with options, to be used up. With compilerLock() held.
Checked<symbol::Network> drawn(const lstmc_network &network, const Options &options);
/// Compiled, with the warnings of all. With compilerLock() held.
Checked<driver::Model> compiled(const lstmc_network &network, const Options &options,
                                const driver::ModelRequest &request);

lstmc_network::Known knownOf(const symbol::Network &net);

} // namespace lstmc::library
