// Values of `init=`: an initialiser, or explicit values (a number, a list, a file, a function of
// the indices, a file with the weights of a whole net).
#pragma once

#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/net/ArrayFiles.h"

namespace lstmc::lnet {

class InitialValues {
public:
  /// `folders`: in which arrays may lie besides the folder of the file that names them.
  InitialValues(Interpreter &interpreter, const std::vector<std::string> &folders)
      : interpreter_(interpreter), run_(interpreter.run), folders_(folders) {}

  /// The initialiser that a value means. Nothing after an error (E0204, E0206; E06 of a file) and
  /// for an unknown value.
  std::optional<symbol::Initialiser> initialiserOf(const Value &value, const Expr *place);

  /// Each parameter gets the array of its name in the file; one without gets `otherwise`, if there
  /// is one. Nothing after an error (E06 of the file).
  std::optional<symbol::Initialiser> ofWeights(const std::string &path,
                                               std::optional<symbol::Initialiser> otherwise,
                                               const Expr *place);

  /// Calls the functions and finds the arrays for the parameters of a finished graph. `fit`: its
  /// settings, from which an initialiser with one of them is removed, since the parameters have it
  /// then.
  void makeDeferred(symbol::Graph &graph, std::vector<symbol::Setting> &fit);

private:
  /// The weights of a file.
  struct Weights {
    std::string path;
    std::vector<data::NamedArray> arrays;
    std::optional<symbol::Initialiser> otherwise;
    size_t asked = 0, found = 0; ///< parameters looked up, and those found
  };
  /// Initial values that are resolved when the net is finished and its shapes are known: a function
  /// of the indices, or weights.
  struct Deferred {
    Value function;
    const Expr *place;
    Module *module;
    std::optional<Weights> weights;
  };
  symbol::Initialiser defer(Deferred deferred);
  std::vector<std::string> folders() const;
  std::optional<symbol::Initialiser> named(const std::string &name);
  std::optional<symbol::Initialiser> ofList(const Value &list, const Expr *place);
  std::optional<symbol::Initialiser> ofFile(const std::string &path, const Expr *place);
  /// The numbers of a list of lists, row by row. False after an error: E0204 for what is no number,
  /// E0206 for rows of different lengths.
  bool flatten(const Value &value, size_t axis, const Expr *place, std::vector<int64_t> &shape,
               std::vector<double> &numbers);
  std::optional<symbol::Initialiser> call(const Deferred &deferred, std::string_view parameter,
                                          const std::vector<int64_t> &shape);
  std::optional<symbol::Initialiser> find(Deferred &deferred, std::string_view parameter,
                                          const std::vector<int64_t> &shape);
  void checkFound();

  Interpreter &interpreter_;
  Run &run_;
  const std::vector<std::string> &folders_;
  std::vector<Deferred> deferred_;
};

} // namespace lstmc::lnet
