// What init= takes: an initialiser, or the values themselves (a number, a list, a file, a function
// of the indices).
#pragma once

#include "frontend/lnet/evaluation/Interpreter.h"

namespace lstmc::lnet {

class InitialValues {
public:
  /// `folders`: in which arrays may lie besides the folder of the file that names them.
  InitialValues(Interpreter &interpreter, const std::vector<std::string> &folders)
      : interpreter_(interpreter), run_(interpreter.run), folders_(folders) {}

  /// The initialiser that a value means. Nothing after an error (E0204, E0206; E06 of a file) and
  /// for an unknown value.
  std::optional<symbol::Initialiser> initialiserOf(const Value &value, const Expr *place);

  /// Calls the functions for the parameters of a finished graph. `fit`: its settings, from which an
  /// initialiser with a function is removed, since the parameters have it then.
  void callFunctions(symbol::Graph &graph, std::vector<symbol::Setting> &fit);

private:
  /// A function of the indices; its shape is known when the net is finished.
  struct Deferred {
    Value function;
    const Expr *place;
    Module *module;
  };
  std::optional<symbol::Initialiser> named(const std::string &name);
  std::optional<symbol::Initialiser> ofList(const Value &list, const Expr *place);
  std::optional<symbol::Initialiser> ofFile(const std::string &path, const Expr *place);
  /// The numbers of a list of lists, row by row. False after an error: E0204 for what is no number,
  /// E0206 for rows of different lengths.
  bool flatten(const Value &value, size_t axis, const Expr *place, std::vector<int64_t> &shape,
               std::vector<double> &numbers);
  std::optional<symbol::Initialiser> call(const Deferred &deferred, std::string_view parameter,
                                          const std::vector<int64_t> &shape);

  Interpreter &interpreter_;
  Run &run_;
  const std::vector<std::string> &folders_;
  std::vector<Deferred> deferred_;
};

} // namespace lstmc::lnet
