// The Symbol API: a deferred graph, and the calls that grow it. Every frontend (.lnet, files of
// other frameworks, C++ programs) builds its networks with it. Nothing is computed; shapes are
// inferred while nodes are added.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "executor/abi/DType.h"
#include "executor/base/Diagnostic.h"

namespace lstmc::symbol {

inline constexpr int64_t kUnknown = -1;

/// An extent, with the name of the dim that it was written as ("batch"; empty: a number).
struct Dim {
  int64_t extent = kUnknown;
  std::string name;
};

/// Extents as far as they are known; no rank at all if `ranked` is false.
struct Shape {
  bool ranked = false;
  std::vector<Dim> dims;

  Shape() = default;
  Shape(std::vector<Dim> dims) : ranked(true), dims(std::move(dims)) {}
  Shape(std::initializer_list<int64_t> extents) : ranked(true) {
    for (int64_t e : extents)
      dims.push_back({e, {}});
  }
  bool known() const;
};

/// Value of an attribute. A tuple may hold None (absent) entries, as `slice` takes.
using Tuple = std::vector<std::optional<int64_t>>;
using AttributeValue = std::variant<std::monostate /* None */, bool, int64_t, double, std::string,
                                    Tuple, std::vector<double>>;

struct NamedAttribute {
  std::string name;
  AttributeValue value;
};

/// How a parameter gets its first value: name in lower case ("uniform", "xavier", "msraprelu",
/// "lstmbias", "constant", "zero", "one", "normal", "orthogonal", "mixed", "values") and
/// arguments. Empty name: fit's initialiser by MXNet's name-suffix rules.
///
/// "values" has explicit numbers: `shape`, a Tuple, and `data`, row-major. "deferred" is a
/// placeholder, by `number`, for an initialiser that only its frontend knows; Graph::fillDeferred
/// replaces it. An initialiser with `by_name` takes precedence over the rules for names of
/// parameters, as fit's too.
struct Initialiser {
  std::string name;
  std::vector<NamedAttribute> arguments;
  /// For "mixed": regular expressions. The first that matches the name of a parameter is used.
  std::vector<std::string> patterns;
  /// One per pattern: the initialiser of the parameters that match it.
  std::vector<Initialiser> initialisers;
};

struct VariableOptions {
  std::optional<DType> dtype;
  Shape shape;
  Initialiser init;
  std::optional<double> lrMult, wdMult;
  /// Set by Variable(..): sharing the name is intended, and causes no warning.
  bool shareIsMeant = false;
  /// How messages show the layer: "LSTM(num_hidden=16)". Empty outside a layer.
  std::string layer;
  /// Whether this is a further parameter of a layer; only the first one causes that warning.
  bool followsInLayer = false;
};

/// An attribute of an op, as frontends need it to bind a call; generated from the op records of
/// ir/sym.
struct OpAttribute {
  enum class Kind { Integer, Float, Boolean, String, Choice, Tuple, DType };
  std::string name;
  Kind kind;
  bool required;
  bool nullable;                    ///< None is allowed
  std::vector<std::string> choices; ///< of Choice
  std::string defaultText;          ///< as in MXNet's documents
  std::vector<std::string> aliases; ///< other names of it ("axis" of concatenate)
};
/// The expected value of an attribute, for messages: "an integer", "one of avg, in, out".
std::string wantedText(const OpAttribute &attribute);

struct OpInput {
  std::string name;
  bool optional = false; ///< may be left out, and then is absent (state, length)
  /// A Variable NAME_<name> is made when the call leaves it out (weight, bias, gamma).
  bool parameter = false;
  bool label = false; ///< NAME_label is made as an input when the call leaves it out
};
struct OpSignature {
  std::string name; ///< MXNet's canonical name
  std::vector<std::string> aliases;
  std::vector<OpInput> inputs;
  bool variadic = false; ///< any number of inputs (Concat, add_n, stack)
  std::vector<OpAttribute> attributes;
  std::string summary;
  std::string countAttribute; ///< "num_args": filled from the number of inputs; empty if none
};

/// The signature of an op with that name or alias; null if there is none.
const OpSignature *findOp(std::string_view name);
/// All ops, in the order of their records.
const std::vector<OpSignature> &allOps();

class Graph;
struct Lifetime;

/// A tensor that will exist when the graph is run. A small handle that can be copied freely. If its
/// Graph no longer exists it behaves like an empty Symbol: false, without name, shape or type.
class Symbol {
public:
  Symbol() = default;
  explicit operator bool() const { return graph() != nullptr; }
  bool operator==(const Symbol &other) const = default;

  Graph *graph() const;
  /// The name users see: "fc1_output"'s node "fc1", an input's or parameter's own name.
  std::string name() const;
  /// The name as an output of a network: "fc1_output", "lstm0_state".
  std::string outputName() const;
  Shape shape() const;
  std::optional<DType> dtype() const;
  /// Whether an op computes it and no op reads it.
  bool isOpUnread() const;

private:
  friend class Graph;
  Symbol(Graph *graph, void *value);
  Graph *graph_ = nullptr;
  void *value_ = nullptr; ///< mlir::Value's opaque pointer
  const Lifetime *lifetime_ = nullptr;
  uint64_t generation_ = 0; ///< that of `lifetime_` while the graph is there
};

/// Source location of a call: file, line, column and length in display cells, byte offset, and the
/// enclosing loop values and calls, innermost last (Diagnostic.h).
using Origin = SourceRange;

enum class Role { Data, Label };

/// A call of an op: arguments by position and by name, attributes by name.
struct Call {
  std::string op;
  std::vector<Symbol> positional;
  std::vector<std::pair<std::string, Symbol>> named;
  std::vector<NamedAttribute> attributes;
  /// Names of the dims used as extents in the attribute `shape` (or as the length of an arange), ""
  /// for a plain number. Empty if there are none.
  std::vector<std::string> dims;
  std::string name; ///< empty: made as MXNet does ("fullyconnected0")
  Origin origin;
  /// Text for this node in messages: "LSTM(num_hidden=256)" for a node of that layer. Empty: the
  /// name of the op.
  std::string shown;
  /// Returns the location of the argument for an input or attribute, by name. Called only for
  /// messages. May be null, and may return nullopt.
  std::function<std::optional<SourceRange>(std::string_view)> argumentPlace;
};

/// A scope in which nodes are made. Of nested scopes of one kind the innermost is in force.
struct Scope {
  enum class Kind { ContextGroup, Recompute, DType, NameScope } kind;
  std::string value;
  SourceRange place = {}; ///< of a recompute scope, for warnings; line 0: unknown
};

struct GraphOptions {
  int64_t nodeLimit = 1'000'000;
  bool rehearsable = false; ///< `rehearse` may be called
};

/// Training defaults from fit(..) and data(..) of a file: keys and values as text, with their
/// locations.
struct Setting {
  std::string key;
  AttributeValue value;
  std::optional<Initialiser> initialiser; ///< of the key "initializer"
  std::vector<NamedAttribute> arguments;  ///< of the key "lr_scheduler", whose value is "factor",
                                          ///< "multifactor", "poly", "cosine"
  Origin origin;
};

/// One net: inputs, parameters, nodes, outputs. All errors come back as diagnostics with the
/// reasons of docs/language.md §5; a failed call leaves the graph as it was.
class Graph {
public:
  explicit Graph(std::string name, GraphOptions options = {});
  ~Graph();
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;

  const std::string &name() const;

  Checked<Symbol> input(const std::string &name, DType dtype, const Shape &shape, Role role,
                        const Origin &origin = {});
  /// A parameter. The same name is the same parameter; declarations must agree (E0209).
  Checked<Symbol> variable(const std::string &name, const VariableOptions &options = {},
                           const Origin &origin = {});
  /// Whether calls that follow repeat earlier ones, as the steps of a loop do: that they share
  /// parameters by name is no warning then. Returns the previous value.
  bool repeatCalls(bool repeated);
  /// The begin state of a recurrent layer: zero, unless fit's `carry` keeps it. Each call has a
  /// state of its own: where the name is taken already, the state gets a number, "NAME_1".
  Checked<Symbol> beginState(const std::string &name, DType dtype, const Shape &shape,
                             const Origin &origin = {});
  /// Adds a node and returns its visible outputs. Makes the parameters that the call leaves out.
  Checked<std::vector<Symbol>> apply(const Call &call);

  void push(Scope scope);
  void pop();

  /// Ends the net: its outputs in order. Infers shapes in both directions; E0211 for what stays
  /// open.
  Diagnostics finish(const std::vector<Symbol> &outputs);

  /// Replaces every "deferred" initialiser by the result of `make` for its number and the
  /// parameter's name and shape; nullopt leaves it, and compiling then fails. If fit's initialiser
  /// `fallback` contains "deferred", the parameters that it applies to get the resulting
  /// initialiser as their own, and the function returns true, because `fallback` is no longer
  /// needed. The graph must be finished.
  using DeferredMaker = std::function<std::optional<Initialiser>(int64_t, std::string_view,
                                                                 const std::vector<int64_t> &)>;
  bool fillDeferred(const Initialiser *fallback, const DeferredMaker &make);

  /// Sets training defaults, as fit(..) of a file does. The compiler rejects unknown keys and
  /// invalid values, at their origin, else at `place`. The value of "initializer" may be a name
  /// instead of an `initialiser`.
  void setFit(std::vector<Setting> settings,
              const std::source_location &place = std::source_location::current());
  void setData(std::vector<Setting> settings,
               const std::source_location &place = std::source_location::current());
  const std::vector<Setting> &fit() const;
  const std::vector<Setting> &data() const;
  /// Values of `setting`s and `dim`s in force, kept for provenance and for `inspect`.
  void setSettings(const std::vector<std::pair<std::string, AttributeValue>> &settings);

  int64_t nodeCount() const;
  /// Begins a rehearsal: from now on, a call like an earlier one only counts its nodes. Finds out
  /// in little time and memory whether a limit would be reached; shapes stay right, but the graph
  /// cannot be used any more.
  void rehearse();
  bool rehearsing() const;
  std::vector<std::string> listArguments() const; ///< inputs and parameters, MXNet's order
  std::vector<std::string> listOutputs() const;   ///< "softmax_output"; several may be equal
  /// Names of the outputs in a package, where each name stands once: of equal ones, the second is
  /// "softmax_output_1".
  std::vector<std::string> outputNames() const;
  std::vector<std::string> listAuxiliaryStates() const;
  /// Shape of every argument, output by name, after finish().
  std::vector<std::pair<std::string, Shape>> inferredShapes() const;

  /// The sym text, with or without locations.
  std::string text(bool locations = false) const;
  /// Hash of the text without locations: equal for equal graphs, whatever made them. 32 hex digits.
  std::string hash() const;

  /// For the rest of the compiler (frontend/symbol/Module.h); public programs have no use for it.
  struct Impl;
  Impl &impl() { return *impl_; }
  const Impl &impl() const { return *impl_; }

private:
  std::unique_ptr<Impl> impl_;
};

} // namespace lstmc::symbol
