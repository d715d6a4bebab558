// `with ctx_group(..)`, `recompute()`, `dtype(..)`, `name_scope(..)`.
#pragma once

#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/net/Nodes.h"

namespace lstmc::lnet {

class Scopes {
public:
  Scopes(Interpreter &interpreter, Nodes &nodes);

  /// Opens the scopes of a `with` that have no errors; returns how many.
  size_t open(const WithStmt *stmt);
  void close(size_t count);

private:
  struct Open {
    symbol::Scope::Kind kind;
    const ScopeItem *item;
    symbol::Graph *graph; ///< the graph that it was opened in; null outside of nets
    int64_t before;       ///< what it may act on that had been made by then
  };

  /// Calls of ops so far, for a group variables and begin states too.
  int64_t countFor(symbol::Scope::Kind kind) const;

  /// The place of a recompute scope in the text, the same in every iteration and call.
  SourceRange placeOf(const ScopeItem &item, symbol::Scope::Kind kind) const;

  /// The argument of a scope, empty if the scope has none; nullopt after an error.
  std::optional<std::string> argument(const ScopeItem &item, std::string_view parameter,
                                      Arguments &arguments);

  Interpreter &interpreter_;
  Run &run_;
  Nodes &nodes_;
  std::vector<Open> open_;
};

} // namespace lstmc::lnet
