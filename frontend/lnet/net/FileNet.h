// The net of a file without functions: its symbols at file level, as MXNet's scripts have them.
#pragma once

#include <map>

#include "frontend/lnet/Load.h"
#include "frontend/lnet/evaluation/Run.h"
#include "frontend/lnet/net/Nodes.h"

namespace lstmc::lnet {

inline constexpr std::string_view kFileNetName = "net";

class FileNet {
public:
  FileNet(Run &run, Nodes &nodes, const LoadOptions &options)
      : run_(run), nodes_(nodes), options_(options) {}

  /// Lets tensors be made at file level from now on, unless the file has a net of its own.
  void allow(Module &main);
  /// Whether the file made a tensor.
  bool begun() const { return graph_ != nullptr; }

  /// The tensor of a `Variable` that is an input: one that no initialiser of MXNet would know,
  /// having none of its own and no name that ends in weight, bias and so on. Nothing for a
  /// parameter, and in functions that are nets.
  std::optional<Value> input(const std::string &name, const symbol::VariableOptions &options,
                             Span span);

  /// Finishes the graph: its outputs are the named tensors at file level without readers. Null
  /// after an error or a rehearsal.
  std::unique_ptr<symbol::Graph> finish(Module &main);

private:
  symbol::Graph *begin();
  void checkShapesUsed(Module &main);

  Run &run_;
  Nodes &nodes_;
  const LoadOptions &options_;
  Module *main_ = nullptr;
  std::unique_ptr<symbol::Graph> graph_;
  std::map<std::string, Value, std::less<>> inputs_;
};

} // namespace lstmc::lnet
