// MXNet's _foreach, _while_loop and _cond: ops whose bodies are graphs in the node.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/importers/mxnet/SymbolFile.h"
#include "frontend/symbol/Symbol.h"

namespace lstmc::importers::mxnet {

bool isControlFlow(std::string_view op);

/// Makes the nodes of all steps of a loop, or those of the branch that is taken.
///
/// The body's inputs are its variables, in the order in which its heads reach them; attributes of
/// the node say which of them are data, states and values from outside. `_foreach` reads the slices
/// of axis 0 and stacks its outputs. The condition of `_while_loop` and `_cond` is known while the
/// graph is built, or the op is refused (E0215): a counter that begins with a constant is known, a
/// value that comes with the data is not. Outputs of `_while_loop` have `max_iterations` rows;
/// those of steps that do not run are 0, where MXNet leaves them undefined.
///
/// E0605 for attributes that contradict the bodies, E0211 for a number of steps that is not known,
/// E0309 for states that change their type, E0311 for more steps than nodes are allowed.
class ControlFlow {
public:
  using Symbols = std::vector<symbol::Symbol>;

  /// What the reader of the file does for it.
  struct Host {
    virtual ~Host() = default;
    /// The variables of a graph, in the order in which its heads reach them.
    virtual size_t inputsOf(uint32_t graph) const = 0;
    /// Makes the nodes of a graph for these inputs. Its heads; nullopt after an error.
    virtual std::optional<Symbols> makeGraph(uint32_t graph, std::span<const symbol::Symbol> inputs,
                                             const symbol::Origin &origin) = 0;
    /// One result of an op; nullopt after an error.
    virtual std::optional<symbol::Symbol> apply(symbol::Call call) = 0;
    virtual void report(ErrorCode code, const symbol::Origin &place, std::string message,
                        std::string help = {}) = 0;
  };

  ControlFlow(const SymbolFile &file, symbol::Graph &graph, Host &host, uint64_t steps)
      : file_(file), graph_(graph), host_(host), stepsLeft_(steps) {}

  /// The outputs of node `node`, which reads `inputs`; nullopt after an error. `origin` is the
  /// place of the node, with the steps of the loops around it.
  std::optional<Symbols> make(uint32_t node, const Symbols &inputs, const symbol::Origin &origin);

private:
  struct Node;
  std::optional<Symbols> forEach(const Node &node);
  std::optional<Symbols> whileLoop(const Node &node);
  std::optional<Symbols> choose(const Node &node);

  std::optional<int64_t> stepsOf(const Node &node, size_t data);
  std::optional<Symbols> slices(const Node &node, size_t data, int64_t step);
  /// Each output's rows, followed by zeros up to `rows`.
  std::optional<Symbols> stacked(const Node &node, const std::vector<Symbols> &outputs,
                                 int64_t rows);
  std::optional<symbol::Symbol> zeroRows(const Node &node, const symbol::Symbol &like,
                                         int64_t rows);
  std::optional<bool> holds(const Node &node, const Symbols &inputs, const symbol::Origin &place);
  /// A constant of a state as an op of its own, so that the next one is derived from it alone.
  std::optional<Symbols> withKnownCounters(const Node &node, Symbols states);
  bool keepTypes(const Node &node, const Symbols &before, const Symbols &after);
  bool mayStep(const Node &node);

  const SymbolFile &file_;
  symbol::Graph &graph_;
  Host &host_;
  uint64_t stepsLeft_;
};

} // namespace lstmc::importers::mxnet
