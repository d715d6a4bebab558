// Expressions of docs/language.md §1, one function for each rule of the grammar.
#pragma once

#include "frontend/lnet/text/TokenReader.h"

namespace lstmc::lnet {

class ExpressionParser : protected TokenReader {
protected:
  using TokenReader::TokenReader;

  Expr *parseExpressions(bool *tuple = nullptr);
  Expr *parseExpr();
  Expr *parseCall(Expr *callee);
  Expr *parseTargets();
  NameExpr *parseName(std::string_view wanted);

  int functions_ = 0; ///< functions and lambdas that are being read, one in the other

private:
  Expr *parseTarget();
  Expr *parseLambda();
  Expr *parseOr();
  Expr *parseAnd();
  Expr *parseNot();
  Expr *parseComparison();
  bool parseCompareOp(CompareTerm &term, bool &found);
  Expr *parseSum();
  Expr *parseProduct();
  Expr *parseFromLeft(ExprKind node, std::initializer_list<TokenKind> signs,
                      Expr *(ExpressionParser::*operand)());
  Expr *makeBinary(ExprKind kind, uint32_t begin, Expr *left, TokenKind op, Span opSpan,
                   Expr *right);
  Expr *parseUnary();
  Expr *parsePower();
  Expr *parsePost();
  Expr *parseIndex(Expr *base);
  Expr *parseIndexItem();
  Expr *parseAtom();
  Expr *parseStrings();
  Expr *parseRound();
  Expr *parseSquare();
  Expr *parseCurly();
  Expr *parseComprehension(Expr *element, uint32_t begin);
};

} // namespace lstmc::lnet
