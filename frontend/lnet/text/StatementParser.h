// Statements of docs/language.md §1, and what is done about those that have errors.
#pragma once

#include "frontend/lnet/text/ExpressionParser.h"

namespace lstmc::lnet {

class StatementParser : ExpressionParser {
public:
  using ExpressionParser::ExpressionParser;

  /// The whole file.
  std::unique_ptr<Tree> run();

private:
  void parseStatement(std::vector<Stmt *> &block);
  void parseSimpleLine(std::vector<Stmt *> &block);
  Stmt *parseSmall();
  Stmt *parseImport();
  Stmt *parseExpressionOrAssignment();
  Stmt *parseAnnotated(Expr *target);
  Stmt *finishAssignment(Expr *left);
  bool parseCompound(std::vector<Stmt *> &block);
  bool parseBlock(Block &block);
  Stmt *parseDef();
  bool parseParameters(std::vector<Parameter> &parameters);
  Stmt *parseFor();
  Stmt *parseIf();
  Stmt *parseWith();
  TypeNode *parseType();
  bool checkTargets(Expr *targets);
  bool refuseStatement();
  void recover();
  void expectedEnd(const Stmt *stmt);

  bool matchRefused_ = false; ///< a `match` was reported, and `case` may follow
  /// The heading of the last block was refused: its block is dropped without a word.
  bool droppedHeading_ = false;
};

} // namespace lstmc::lnet
