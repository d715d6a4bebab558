// Adds nodes to the net that is being drawn.
#pragma once

#include "frontend/lnet/evaluation/Files.h"
#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

class Nodes {
public:
  Nodes(Run &run, const Files &files) : run_(run), files_(files) {}

  /// The outputs of a call: one tensor, or a tuple of them. Unknown after an error.
  Value apply(symbol::Call &call, Span origin);
  /// A call with inputs by position, whose expressions are `places`.
  Value applyOne(std::string_view op, const std::vector<Value> &inputs,
                 std::vector<symbol::NamedAttribute> attributes, Span origin,
                 std::vector<const Expr *> places);
  Value variable(const std::string &name, const symbol::VariableOptions &options, Span origin);
  Value beginState(const std::string &name, DType dtype, const symbol::Shape &shape, Span origin);

  Value tensor(symbol::Symbol symbol) { return run_.heap.make<TensorObject>(symbol); }
  /// Reports diagnostics of the graph.
  void report(Diagnostics diagnostics);

  /// How often an op was called, and a variable or begin state was declared.
  int64_t calls() const { return calls_; }
  int64_t declarations() const { return declarations_; }

  /// The name scopes in force: "enc_".
  std::string namePrefix() const;
  std::vector<std::string> nameScopes;

private:
  Value made(Checked<symbol::Symbol> symbol, Span origin);
  Value values(const std::vector<symbol::Symbol> &symbols);

  Run &run_;
  const Files &files_;
  int64_t calls_ = 0, declarations_ = 0;
};

/// E0315 for a name of more bytes than `--limit name` allows.
bool checkNameLength(Run &run, std::string_view name, Span span);

} // namespace lstmc::lnet
