// Statements, one after the other.
#pragma once

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

class Interpreter;

class Statements {
public:
  enum class Flow { Next, Return };

  explicit Statements(Interpreter &interpreter);

  Flow run(Block block);
  /// The value of the last `return`.
  Value takeReturned() { return std::exchange(returned_, Value()); }

private:
  Flow runOne(const Stmt *stmt);
  void runAnnotated(const AnnotatedStmt *stmt);
  void runAugmented(const AugmentedStmt *stmt);
  void runAssert(const AssertStmt *stmt);
  void runDef(const DefStmt *stmt);
  Flow runFor(const ForStmt *stmt);
  Flow runIf(const IfStmt *stmt);
  Flow runWith(const WithStmt *stmt);
  /// It is unknown whether these blocks run: the names that they would set become unknown.
  Flow skipUnknown(std::initializer_list<Block> blocks);

  Interpreter &interpreter_;
  Run &run_;
  Value returned_;
};

} // namespace lstmc::lnet
