// `from .. import ..`: runs each file once and hands its names over.
#pragma once

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

class Interpreter;

class Imports {
public:
  explicit Imports(Interpreter &interpreter);

  void run(const ImportStmt *stmt);
  void runFile(Module &module);

private:
  /// The file that is imported, run; null after an error.
  Module *imported(const ImportStmt *stmt);
  void refuseCycle(const ImportStmt *stmt, const Module &module);
  void handOver(const ImportStmt *stmt, const ImportedName &name, Module &module);
  void checkTwice(const ImportStmt *stmt, const ImportedName &name);

  Interpreter &interpreter_;
  Run &run_;
  std::vector<Module *> running_; ///< files being run, outermost first
};

} // namespace lstmc::lnet
