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
/// "values" has the numbers themselves: `shape`, a Tuple, and `data`, row-major. "deferred" stands
/// for one that only its frontend knows, by `number`; Graph::fillDeferred replaces it. One with
/// `by_name` decides whatever the name of a parameter, also as fit's.
struct Initialiser {
  std::string name;
  std::vector<NamedAttribute> arguments;
  /// Of "mixed": regular expressions. The first that matches the name of a parameter decides.
  std::vector<std::string> patterns;
  /// One per pattern: the initialiser of the parameters that match it.
  std::vector<Initialiser> initialisers;
};

struct VariableOptions {
  std::optional<DType> dtype;
  Shape shape;
  Initialiser init;
  std::optional<double> lrMult, wdMult;
  /// From Variable(..): sharing the name is intended, and gives no warning.
  bool shareIsMeant = false;
  /// How messages show the layer: "LSTM(num_hidden=16)". Empty outside a layer.
  std::string layer;
  /// Of a layer: whether this is not its first parameter, which alone gives that warning.
  bool followsInLayer = false;
};

/// What an op takes, as frontends need it to bind a call; made from the op records of ir/sym.
struct OpAttribute {
  enum class Kind { Integer, Float, Boolean, String, Choice, Tuple, DType };
  std::string name;
  Kind kind;
  bool required;
  bool nullable;                    ///< None may be given
  std::vector<std::string> choices; ///< of Choice
  std::string defaultText;          ///< as in MXNet's documents
  std::vector<std::string> aliases; ///< other names of it ("axis" of concatenate)
};
/// What an attribute takes, as messages say it: "an integer", "one of avg, in, out".
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

/// The signature of an op by any of its names; null if there is none.
const OpSignature *findOp(std::string_view name);
/// All ops, in the order of their records.
const std::vector<OpSignature> &allOps();

class Graph;
struct Lifetime;

/// A tensor that will exist when the graph is run. A small handle: copy it freely. One whose Graph
/// is gone is as one that was never given a tensor: false, without a name, a shape or a type.
class Symbol {
public:
  Symbol() = default;
  explicit operator bool() const { return graph() != nullptr; }
  bool operator==(const Symbol &other) const = default;

  Graph *graph() const;
  /// The name users see: "fc1_output"'s node "fc1", an input's or parameter's own name.
  std::string name() const;
  /// As a network's outputs are called: "fc1_output", "lstm0_state".
  std::string outputName() const;
  Shape shape() const;
  std::optional<DType> dtype() const;
  /// Whether an op gives it and no op reads it: an output, if it is used at all.
  bool isOpUnread() const;

private:
  friend class Graph;
  Symbol(Graph *graph, void *value);
  Graph *graph_ = nullptr;
  void *value_ = nullptr; ///< mlir::Value's opaque pointer
  const Lifetime *lifetime_ = nullptr;
  uint64_t generation_ = 0; ///< that of `lifetime_` while the graph is there
};

/// Where in the source a call stands: file, line, column and length in display cells, byte offset,
/// the loop values and calls in force (innermost last), as Diagnostic.h has them.
using Origin = SourceRange;

enum class Role { Data, Label };

/// A call of an op: arguments by position and by name, attributes by name.
struct Call {
  std::string op;
  std::vector<Symbol> positional;
  std::vector<std::pair<std::string, Symbol>> named;
  std::vector<NamedAttribute> attributes;
  /// Names of the dims that the extents of attribute `shape` (or the length of an arange) were
  /// written as, "" for a plain number. Empty if there are none.
  std::vector<std::string> dims;
  std::string name; ///< empty: made as MXNet does ("fullyconnected0")
  Origin origin;
  /// What messages call this node: "LSTM(num_hidden=256)" for a node of that layer. Empty: the name
  /// of the op.
  std::string shown;
  /// Gives the place of the argument for an input or attribute, by name. Called only when a message
  /// needs it. May be null, and may return nothing.
  std::function<std::optional<SourceRange>(std::string_view)> argumentPlace;
};

/// A scope in which nodes are made. Of nested scopes of one kind the innermost is in force.
struct Scope {
  enum class Kind { ContextGroup, Recompute, DType, NameScope } kind;
  std::string value;
};

struct GraphOptions {
  int64_t nodeLimit = 1'000'000;
  bool rehearsable = false; ///< `rehearse` may be called
};

/// Defaults for training that a file gives with fit(..) and data(..): keys and values as text, with
/// where they stand.
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

  /// Gives every parameter whose initialiser is "deferred" the one that `make` returns for its
  /// number, name and shape; nothing leaves it as it is, which a compiler refuses. `fallback` is
  /// that of fit, if there is one: where "deferred" is within it, the parameters that it decides
  /// about get what it says as their own, and true is returned: it is needed no more. For a graph
  /// that is finished.
  using DeferredMaker = std::function<std::optional<Initialiser>(int64_t, std::string_view,
                                                                 const std::vector<int64_t> &)>;
  bool fillDeferred(const Initialiser *fallback, const DeferredMaker &make);

  /// Defaults for training, as fit(..) of a file gives them; whoever compiles the graph refuses a
  /// key that there is not and a value that cannot be, at its origin, else at `place`. The value of
  /// "initializer" may be the name of one, in place of `initialiser`.
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
