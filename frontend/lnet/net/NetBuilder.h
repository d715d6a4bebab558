// Draws a net: its inputs, its body, its outputs.
#pragma once

#include "frontend/lnet/Load.h"
#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/net/Nodes.h"
#include "frontend/lnet/net/Types.h"

namespace lstmc::lnet {

class NetBuilder {
public:
  NetBuilder(Interpreter &interpreter, Nodes &nodes, Types &types, const LoadOptions &options,
             FunctionObject &net);
  ~NetBuilder() { run_.graph = nullptr; }
  NetBuilder(const NetBuilder &) = delete;
  NetBuilder &operator=(const NetBuilder &) = delete;

  static symbol::GraphOptions graphOptions(const Run &run, const LoadOptions &options);

  /// The graph, finished; null after an error or a rehearsal.
  std::unique_ptr<symbol::Graph> build(Module &main);

private:
  /// A frame with an input for every parameter that has a type, the default for the others.
  Value frameOfInputs();
  Value input(const Parameter &parameter, const TypeValue &type);
  /// The shape of an input, with the extents of `--shape`; nullopt after an error.
  std::optional<symbol::Shape> shapeOfInput(std::string_view name, const TypeValue &type);
  /// E0001 for a `--shape` of an input that the net does not have.
  void checkShapesUsed();
  /// The tensors that the net returned; nullopt after an error.
  std::optional<std::vector<symbol::Symbol>> outputs(const Value &result);

  Interpreter &interpreter_;
  Run &run_;
  Nodes &nodes_;
  Types &types_;
  const LoadOptions &options_;
  FunctionObject &net_;
  std::unique_ptr<symbol::Graph> graph_;
};

/// The last `--shape` of an input; null if there is none.
const InputShape *shapeFor(const LoadOptions &options, std::string_view input);

} // namespace lstmc::lnet
