#include "frontend/lnet/text/Parser.h"

#include "executor/base/Suggest.h"
#include "frontend/lnet/text/Lexer.h"
#include "frontend/lnet/text/StatementParser.h"

namespace lstmc::lnet {

std::unique_ptr<Tree> parse(const SourceFile &file, const Limits &limits, Problems &problems) {
  problems.nameFile(file.path());
  return StatementParser(file, limits, problems).run();
}

namespace {

TokenKind augmentedOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::PlusEqual:
    return TokenKind::Plus;
  case TokenKind::MinusEqual:
    return TokenKind::Minus;
  case TokenKind::StarEqual:
    return TokenKind::Star;
  case TokenKind::SlashEqual:
    return TokenKind::Slash;
  default:
    return TokenKind::End;
  }
}

} // namespace

std::unique_ptr<Tree> StatementParser::run() {
  tree_->tokens = lex(file_, limits_, problems_);
  std::vector<Stmt *> statements;
  while (!is(TokenKind::End)) {
    if (is(TokenKind::Dedent) || is(TokenKind::Newline))
      take();
    else
      parseStatement(statements);
  }
  tree_->statements = tree_->copy(statements);
  return std::move(tree_);
}

/// After an error: moves to the next statement. If a heading failed, its block is still parsed, to
/// report the errors in it.
void StatementParser::recover() {
  while (!is(TokenKind::Newline) && !is(TokenKind::End) && !is(TokenKind::Indent) &&
         !is(TokenKind::Dedent))
    take();
  accept(TokenKind::Newline);
  failed_ = false;
  if (!is(TokenKind::Indent))
    return;
  take();
  ++functions_;
  std::vector<Stmt *> dropped;
  while (!is(TokenKind::Dedent) && !is(TokenKind::End))
    parseStatement(dropped);
  --functions_;
  accept(TokenKind::Dedent);
  droppedHeading_ = true;
}

void StatementParser::parseStatement(std::vector<Stmt *> &block) {
  Descent descent(*this);
  failed_ = false;
  bool dropped = droppedHeading_;
  droppedHeading_ = false;
  if (!mayDescend())
    return recover();
  if (is(TokenKind::Indent)) {
    error(ErrorCode::E0103, token().span, "indented, and no block begins here");
    take();
    while (!is(TokenKind::Dedent) && !is(TokenKind::End))
      parseStatement(block);
    accept(TokenKind::Dedent);
    return;
  }
  bool hangsOn = is(TokenKind::KwElse) || is(TokenKind::KwElif) || is(TokenKind::KwExcept) ||
                 is(TokenKind::KwFinally);
  if (hangsOn && dropped) {
    recover();
    return;
  }
  bool compound =
      is(TokenKind::KwDef) || is(TokenKind::KwFor) || is(TokenKind::KwIf) || is(TokenKind::KwWith);
  bool refused = !compound && refuseStatement();
  if (refused || (compound && !parseCompound(block))) {
    bool heading = compound || refused;
    recover();
    droppedHeading_ |= heading;
    return;
  }
  if (!compound)
    parseSimpleLine(block);
}

/// Reports statements that are Python's only. True if one stands here.
bool StatementParser::refuseStatement() {
  if (is(TokenKind::At)) {
    report(ErrorCode::E0107, token().span, "a decorator is not part of .lnet",
           "f = decorator(f), under another name");
    return true;
  }
  if (is(TokenKind::Name) && text(token().span) == "match") {
    switch (kind(1)) {
    case TokenKind::Name:
    case TokenKind::Integer:
    case TokenKind::Float:
    case TokenKind::String:
    case TokenKind::KwTrue:
    case TokenKind::KwFalse:
    case TokenKind::KwNone:
    case TokenKind::LBrace:
      report(ErrorCode::E0107, token().span, "\"match\" is not part of .lnet", "if … elif … else");
      matchRefused_ = true;
      return true;
    default:
      return false;
    }
  }
  if (matchRefused_ && is(TokenKind::Name) && text(token().span) == "case" &&
      kind(1) != TokenKind::Equal) {
    failed_ = true; // the `match` that it belongs to was reported
    return true;
  }
  if (!isRefusedWord())
    return false;
  expected("a statement");
  return true;
}

void StatementParser::parseSimpleLine(std::vector<Stmt *> &block) {
  while (true) {
    bool match = is(TokenKind::Name) && text(token().span) == "match";
    Span first = token().span;
    Stmt *stmt = parseSmall();
    if (stmt && match && is(TokenKind::Colon) && kind(1) == TokenKind::Newline) {
      report(ErrorCode::E0107, first, "\"match\" is not part of .lnet", "if … elif … else");
      matchRefused_ = true;
    }
    if (!stmt || failed_)
      return recover();
    block.push_back(stmt);
    if (accept(TokenKind::Newline))
      return;
    if (!is(TokenKind::Semicolon)) {
      expectedEnd(stmt);
      return recover();
    }
    take();
    if (accept(TokenKind::Newline))
      return;
  }
}

/// E0106 for tokens after a complete statement; after a single name, suggests a misspelled keyword.
void StatementParser::expectedEnd(const Stmt *stmt) {
  const bool aName = stmt->kind == StmtKind::Expression &&
                     static_cast<const ExpressionStmt *>(stmt)->value->kind == ExprKind::Name;
  const bool aValue = is(TokenKind::Name) || is(TokenKind::String) || is(TokenKind::Integer) ||
                      is(TokenKind::Float);
  if (!aName || !aValue) {
    expected("the end of the line");
    return;
  }
  const std::string_view name = text(stmt->span);
  report(ErrorCode::E0106, token().span, "expected the end of the line, found " + found(),
         name == "print" ? "a tensor has no numbers before the net runs"
                         : didYouMean(name, {"return", "for", "if", "elif", "else", "def", "with",
                                             "from", "assert", "pass"}));
}

Stmt *StatementParser::parseSmall() {
  uint32_t begin = token().span.begin;
  switch (kind()) {
  case TokenKind::KwFrom:
    return parseImport();
  case TokenKind::KwPass:
    take();
    return makeStmt<Stmt>(StmtKind::Pass, begin);
  case TokenKind::KwReturn: {
    Span word = take();
    if (functions_ == 0)
      return error(ErrorCode::E0106, word,
                   "expected \"return\" in a function only, found it at file level");
    Expr *value = nullptr;
    if (!is(TokenKind::Newline) && !is(TokenKind::Semicolon) && !(value = parseExpressions()))
      return nullptr;
    auto *stmt = makeStmt<ReturnStmt>(StmtKind::Return, begin);
    stmt->value = value;
    stmt->height = value ? value->height : 1;
    return stmt;
  }
  case TokenKind::KwAssert: {
    take();
    Expr *condition = parseExpr(), *message = nullptr;
    if (!condition || (accept(TokenKind::Comma) && !(message = parseExpr())))
      return nullptr;
    auto *stmt = makeStmt<AssertStmt>(StmtKind::Assert, begin);
    stmt->condition = condition;
    stmt->message = message;
    stmt->height = std::max(condition->height, heightOf(message));
    return stmt;
  }
  case TokenKind::KwDef:
  case TokenKind::KwFor:
  case TokenKind::KwIf:
  case TokenKind::KwWith:
    return expected("a simple statement");
  case TokenKind::KwElse:
  case TokenKind::KwElif:
    return expected("a statement");
  default:
    return parseExpressionOrAssignment();
  }
}

/// "from" NAME { "." NAME } "import" NAME [ "as" NAME ] { "," NAME [ "as" NAME ] }
Stmt *StatementParser::parseImport() {
  uint32_t begin = take().begin;
  if (is(TokenKind::Dot) || is(TokenKind::Ellipsis)) {
    Span dots = token().span;
    std::string path;
    for (bool first = true; is(TokenKind::Dot) || is(TokenKind::Ellipsis) || is(TokenKind::Name);
         first = false) {
      if (is(TokenKind::Name))
        path += text(token().span);
      else if (!first || is(TokenKind::Ellipsis))
        path += "../";
      dots.end = take(TokenRole::Tight).end;
    }
    return report(
        ErrorCode::E0307, dots,
        fmt::format("\"{}\" is outside the folders of imports", path.empty() ? "." : path), {});
  }
  Span module = token().span;
  do {
    if (!is(TokenKind::Name))
      return expected("a name");
    module.end = take().end;
  } while (accept(TokenKind::Dot, TokenRole::Tight));
  if (text(module).size() > limits_.name)
    return report(
        ErrorCode::E0315, module,
        fmt::format("name of {} bytes, the limit is {}", text(module).size(), limits_.name),
        "--limit name=N changes the limit");
  if (!accept(TokenKind::KwImport))
    return expected("\"import\" or \".\"");
  if (is(TokenKind::Star))
    return refuse(token().span, "\"import *\"", "from file import name, other");
  std::vector<ImportedName> names;
  do {
    NameExpr *name = parseName("a name");
    if (!name)
      return nullptr;
    ImportedName imported{name->name, name->span, name};
    if (accept(TokenKind::KwAs)) {
      imported.target = parseName("a name");
      if (!imported.target)
        return nullptr;
    }
    names.push_back(imported);
  } while (accept(TokenKind::Comma));
  auto *stmt = makeStmt<ImportStmt>(StmtKind::Import, begin);
  // Spaces may stand round the dots; the name is kept without.
  std::string joined;
  for (char c : text(module))
    if (c != ' ' && c != '\t')
      joined += c;
  stmt->module = *tree_->keep(std::move(joined));
  stmt->moduleSpan = module;
  stmt->names = tree_->copy(names);
  return stmt;
}

Stmt *StatementParser::parseExpressionOrAssignment() {
  if (is(TokenKind::Name) && kind(1) == TokenKind::Colon && kind(2) != TokenKind::Newline)
    return parseAnnotated(parseName("a name"));
  uint32_t begin = token().span.begin;
  Expr *left = parseExpressions();
  if (!left)
    return nullptr;
  if (is(TokenKind::Equal))
    return finishAssignment(left);
  if (TokenKind op = augmentedOperator(kind()); op != TokenKind::End) {
    if (left->kind == ExprKind::Index)
      return refuse(left->span, "assignment to an element", kNewValue);
    if (left->kind == ExprKind::Attribute)
      return refuse(left->span, "assignment to an attribute", "give the value a name of its own");
    if (left->kind != ExprKind::Name || left->groupOpen)
      return expected("the end of the line");
    Span opSpan = take(TokenRole::Binary);
    Expr *value = parseExpressions();
    if (!value)
      return nullptr;
    auto *stmt = makeStmt<AugmentedStmt>(StmtKind::Augmented, begin);
    stmt->target = static_cast<NameExpr *>(left);
    stmt->op = op;
    stmt->opSpan = opSpan;
    stmt->value = value;
    stmt->height = value->height;
    return stmt;
  }
  auto *stmt = makeStmt<ExpressionStmt>(StmtKind::Expression, begin);
  stmt->value = left;
  stmt->height = left->height;
  return stmt;
}

Stmt *StatementParser::finishAssignment(Expr *left) {
  if (!checkTargets(left))
    return nullptr;
  take(TokenRole::Binary);
  Expr *value = parseExpressions();
  if (!value)
    return nullptr;
  if (is(TokenKind::Equal))
    return refuse(token().span, "an assignment to several targets in a chain", "a = x; b = a");
  auto *stmt = makeStmt<AssignStmt>(StmtKind::Assign, left->span.begin);
  stmt->targets = left;
  stmt->value = value;
  stmt->height = std::max(left->height, value->height);
  return stmt;
}

/// The left side of `=` was parsed as an expression; checks that it is a name or a tuple of names.
bool StatementParser::checkTargets(Expr *targets) {
  switch (targets->kind) {
  case ExprKind::Name:
    return true;
  case ExprKind::Tuple: {
    auto *tuple = static_cast<SequenceExpr *>(targets);
    if (tuple->elements.empty()) {
      error(ErrorCode::E0106, tuple->span, "expected a name, found \"()\"");
      return false;
    }
    for (Expr *element : tuple->elements)
      if (!checkTargets(element))
        return false;
    return true;
  }
  case ExprKind::Index:
    refuse(targets->span, "assignment to an element", kNewValue);
    return false;
  case ExprKind::Attribute:
    refuse(targets->span, "assignment to an attribute", "give the value a name of its own");
    return false;
  case ExprKind::List:
    refuse(targets->span, "assignment to a list display", "a, b = …");
    return false;
  default:
    error(ErrorCode::E0106, targets->span, "expected a name before \"=\", found a value");
    return false;
  }
}

Stmt *StatementParser::parseAnnotated(Expr *target) {
  take(TokenRole::Colon);
  TypeNode *type = parseType();
  if (!type || !expect(TokenKind::Equal, "\"=\"", TokenRole::Binary))
    return nullptr;
  Expr *value = parseExpressions();
  if (!value)
    return nullptr;
  auto *stmt = makeStmt<AnnotatedStmt>(StmtKind::Annotated, target->span.begin);
  stmt->target = static_cast<NameExpr *>(target);
  stmt->type = type;
  stmt->value = value;
  stmt->height = value->height;
  return stmt;
}

/// type = NAME [ "[" dim { "," dim } "]" ] | "(" type { "," type } ")"
TypeNode *StatementParser::parseType() {
  Descent descent(*this);
  if (!mayDescend())
    return nullptr;
  TypeNode *type = tree_->make<TypeNode>();
  uint32_t begin = token().span.begin;
  if (is(TokenKind::LParen)) {
    type->groupOpen = uint32_t(at_) + 1;
    take(TokenRole::Group);
    std::vector<TypeNode *> parts;
    do {
      parts.push_back(parseType());
      if (!parts.back())
        return nullptr;
    } while (accept(TokenKind::Comma));
    type->groupClose = uint32_t(at_) + 1;
    if (!expect(TokenKind::RParen, "\")\" or \",\"", TokenRole::Close))
      return nullptr;
    type->parts = tree_->copy(parts);
  } else {
    if (is(TokenKind::String))
      return report(ErrorCode::E0106, token().span, "expected a type, found a string",
                    "leave the quotes out");
    if (!is(TokenKind::Name))
      return expected("a type");
    type->nameSpan = take();
    type->name = text(type->nameSpan);
    if (is(TokenKind::Dot))
      return report(ErrorCode::E0106, token().span, "expected a type, found a name with a dot",
                    "a type stands without a module: float32[N, 10]");
    if (is(TokenKind::LBracket)) {
      take(TokenRole::Open);
      type->hasDims = true;
      std::vector<Expr *> dims;
      do {
        if (is(TokenKind::Ellipsis)) {
          uint32_t at = take().begin;
          dims.push_back(make<Expr>(ExprKind::Ellipsis, at));
        } else {
          dims.push_back(parseExpr());
        }
        if (!dims.back())
          return nullptr;
      } while (accept(TokenKind::Comma));
      if (!expect(TokenKind::RBracket, "\"]\" or \",\"", TokenRole::Close))
        return nullptr;
      type->dims = tree_->copy(dims);
    }
  }
  type->span = {begin, lastEnd_};
  return type;
}

} // namespace lstmc::lnet
