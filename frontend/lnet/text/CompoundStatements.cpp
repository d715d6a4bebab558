// def, for, if, with: headings and blocks.
#include "frontend/lnet/text/StatementParser.h"

#include "frontend/names/Suggestion.h"

namespace lstmc::lnet {

bool StatementParser::parseCompound(std::vector<Stmt *> &block) {
  Stmt *stmt = nullptr;
  switch (kind()) {
  case TokenKind::KwDef:
    stmt = parseDef();
    break;
  case TokenKind::KwFor:
    stmt = parseFor();
    break;
  case TokenKind::KwIf:
    stmt = parseIf();
    break;
  default:
    stmt = parseWith();
    break;
  }
  if (!stmt)
    return false;
  if (stmt->height > limits_.depth)
    return tooDeep(stmt->height, stmt->span);
  block.push_back(stmt);
  return true;
}

/// block = simple | NEWLINE INDENT stmt { stmt } DEDENT
bool StatementParser::parseBlock(Block &block) {
  if (!expect(TokenKind::Colon, "\":\"", TokenRole::BlockColon))
    return false;
  std::vector<Stmt *> statements;
  if (!is(TokenKind::Newline)) {
    if (is(TokenKind::KwDef) || is(TokenKind::KwFor) || is(TokenKind::KwIf) ||
        is(TokenKind::KwWith)) {
      expected("a simple statement");
      return false;
    }
    if (refuseStatement())
      return false;
    parseSimpleLine(statements);
  } else {
    take();
    if (!is(TokenKind::Indent)) {
      expected("an indented block");
      return false;
    }
    take();
    while (!is(TokenKind::Dedent) && !is(TokenKind::End))
      parseStatement(statements);
    accept(TokenKind::Dedent);
    droppedHeading_ = false;
  }
  block = tree_->copy(statements);
  return true;
}

Stmt *StatementParser::parseDef() {
  uint32_t begin = take().begin;
  NameExpr *name = parseName("a name");
  if (!name || !expect(TokenKind::LParen, "\"(\"", TokenRole::Open))
    return nullptr;
  std::vector<Parameter> parameters;
  if (!parseParameters(parameters) ||
      !expect(TokenKind::RParen, "\")\" or \",\"", TokenRole::Close))
    return nullptr;
  TypeNode *result = nullptr;
  if (accept(TokenKind::Arrow, TokenRole::Binary) && !(result = parseType()))
    return nullptr;
  auto *stmt = makeStmt<DefStmt>(StmtKind::Def, begin);
  ++functions_;
  bool good = parseBlock(stmt->body);
  --functions_;
  if (!good)
    return nullptr;
  stmt->name = name;
  stmt->parameters = tree_->copy(parameters);
  stmt->result = result;
  stmt->height = heightOf(stmt->body) + 1;
  for (Parameter &parameter : parameters)
    stmt->height = std::max(stmt->height, heightOf(parameter.defaultValue) + 1);
  return stmt;
}

bool StatementParser::parseParameters(std::vector<Parameter> &parameters) {
  while (!is(TokenKind::RParen)) {
    if (is(TokenKind::Star) || is(TokenKind::DoubleStar) || is(TokenKind::Slash)) {
      refuse(token().span,
             is(TokenKind::Star)         ? "\"*args\""
             : is(TokenKind::DoubleStar) ? "\"**kw\""
                                         : "\"/\" among parameters",
             is(TokenKind::Slash) ? "" : "name each parameter, or take one list: def f(x, rest)");
      return false;
    }
    Parameter parameter{};
    parameter.name = parseName("a parameter");
    if (!parameter.name)
      return false;
    for (Parameter &other : parameters)
      if (other.name->name == parameter.name->name) {
        error(ErrorCode::E0106, parameter.name->span, "parameter \"{}\" stands twice",
              parameter.name->name);
        return false;
      }
    if (accept(TokenKind::Colon, TokenRole::Colon) && !(parameter.type = parseType()))
      return false;
    if (accept(TokenKind::Equal, parameter.type ? TokenRole::Binary : TokenRole::Tight)) {
      if (!(parameter.defaultValue = parseExpr()))
        return false;
    } else if (!parameters.empty() && parameters.back().defaultValue) {
      expected("\"=\", for parameters with a default come last");
      return false;
    }
    parameters.push_back(parameter);
    if (!is(TokenKind::Comma))
      break;
    take(kind(1) == TokenKind::RParen ? TokenRole::NeedlessComma : TokenRole::Plain);
  }
  return true;
}

Stmt *StatementParser::parseFor() {
  uint32_t begin = take().begin;
  Expr *targets = parseTargets();
  if (!targets || !expect(TokenKind::KwIn, "\"in\" or \",\""))
    return nullptr;
  Expr *iterable = parseExpressions();
  if (!iterable)
    return nullptr;
  auto *stmt = makeStmt<ForStmt>(StmtKind::For, begin);
  if (!parseBlock(stmt->body))
    return nullptr;
  stmt->targets = targets;
  stmt->iterable = iterable;
  stmt->height = std::max(heightOf(stmt->body), iterable->height) + 1;
  if (is(TokenKind::KwElse)) {
    failed_ = false;
    report(ErrorCode::E0107, token().span, "\"for … else\" is not part of .lnet",
           "write what follows the loop after it");
    return nullptr;
  }
  return stmt;
}

/// if = "if" expr ":" block { "elif" expr ":" block } [ "else" ":" block ]; a chain of elif is
/// parsed in a loop, each arm into `otherwise` of the one before.
Stmt *StatementParser::parseIf() {
  std::vector<IfStmt *> arms;
  Block otherwise;
  do {
    uint32_t begin = take().begin;
    Expr *condition = parseExpr();
    if (!condition)
      return nullptr;
    auto *arm = makeStmt<IfStmt>(StmtKind::If, begin);
    if (!parseBlock(arm->body))
      return nullptr;
    arm->condition = condition;
    arms.push_back(arm);
  } while (is(TokenKind::KwElif));
  if (accept(TokenKind::KwElse) && !parseBlock(otherwise))
    return nullptr;
  for (size_t i = arms.size(); i-- > 0;) {
    IfStmt *arm = arms[i];
    arm->otherwise =
        i + 1 < arms.size() ? tree_->copy(std::vector<Stmt *>{arms[i + 1]}) : otherwise;
    arm->height =
        std::max({heightOf(arm->body), heightOf(arm->otherwise), arm->condition->height}) + 1;
  }
  return arms.front();
}

/// with = "with" scope { "," scope } ":" block; scope = NAME "(" [ args ] ")"
Stmt *StatementParser::parseWith() {
  uint32_t begin = take().begin;
  std::vector<ScopeItem> scopes;
  uint32_t height = 0;
  do {
    NameExpr *name = parseName("a scope");
    if (!name)
      return nullptr;
    if (is(TokenKind::Dot) && kind(1) == TokenKind::Name && isModuleName(name->name))
      return report(ErrorCode::E0201, name->span,
                    fmt::format("\"{}\" is a module of Python", name->name),
                    suggestion(NameKind::Scope, text(token(1).span), {"ctx_group", "name_scope"}));
    if (!is(TokenKind::LParen))
      return expected("\"(\"");
    Expr *call = parseCall(name);
    if (!call)
      return nullptr;
    if (is(TokenKind::KwAs))
      return refuse(token().span, "\"as\" in \"with\"", "leave it out: a scope has no value");
    height = std::max(height, call->height);
    scopes.push_back({name->name, name->span, static_cast<CallExpr *>(call)});
  } while (accept(TokenKind::Comma));
  auto *stmt = makeStmt<WithStmt>(StmtKind::With, begin);
  if (!parseBlock(stmt->body))
    return nullptr;
  stmt->scopes = tree_->copy(scopes);
  stmt->height = std::max(heightOf(stmt->body), height) + 1;
  return stmt;
}

} // namespace lstmc::lnet
