#include "frontend/lnet/text/Parser.h"

#include "frontend/lnet/text/Lexer.h"
#include "frontend/lnet/text/ParserState.h"

namespace lstmc::lnet {

std::unique_ptr<Tree> parse(const SourceFile &file, const Limits &limits, Problems &problems) {
  problems.nameFile(file.path());
  return Parser(file, limits, problems).run();
}

namespace {

/// Python's statements that are not the language's, and how to write it instead, where there is a
/// way.
struct RefusedWord {
  TokenKind kind;
  std::string_view help;
};
constexpr RefusedWord kRefusedWords[] = {
    {TokenKind::KwWhile, "for i in range(n):"},
    {TokenKind::KwBreak, ""},
    {TokenKind::KwContinue, ""},
    {TokenKind::KwClass, ""},
    {TokenKind::KwTry, ""},
    {TokenKind::KwExcept, ""},
    {TokenKind::KwFinally, ""},
    {TokenKind::KwRaise, "assert condition, \"message\""},
    {TokenKind::KwGlobal, ""},
    {TokenKind::KwNonlocal, ""},
    {TokenKind::KwDel, ""},
    {TokenKind::KwYield, "[x for x in y]"},
    {TokenKind::KwAsync, ""},
    {TokenKind::KwAwait, ""},
    {TokenKind::KwImport, "from file import name"},
};

const RefusedWord *refusedWord(TokenKind kind) {
  for (const RefusedWord &word : kRefusedWords)
    if (word.kind == kind)
      return &word;
  return nullptr;
}

bool isRefusedOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::Walrus:
  case TokenKind::Tilde:
  case TokenKind::Ampersand:
  case TokenKind::Bar:
  case TokenKind::Caret:
  case TokenKind::ShiftLeft:
  case TokenKind::ShiftRight:
  case TokenKind::AndEqual:
  case TokenKind::OrEqual:
  case TokenKind::XorEqual:
  case TokenKind::ShiftLeftEqual:
  case TokenKind::ShiftRightEqual:
  case TokenKind::DoubleStarEqual:
  case TokenKind::DoubleSlashEqual:
  case TokenKind::PercentEqual:
  case TokenKind::AtEqual:
    return true;
  default:
    return false;
  }
}

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

std::nullptr_t Parser::report(ErrorCode code, Span span, std::string message, std::string help) {
  if (failed_)
    return nullptr;
  failed_ = true;
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.place = file_.range(span);
  diagnostic.help = std::move(help);
  problems_.add(std::move(diagnostic));
  return nullptr;
}

std::string Parser::found() const {
  switch (kind()) {
  case TokenKind::End:
  case TokenKind::Newline:
  case TokenKind::Indent:
  case TokenKind::Dedent:
  case TokenKind::String:
    return std::string(spelling(kind()));
  default: {
    std::string_view shown = text(token().span);
    return fmt::format("\"{}\"",
                       shown.size() > 40 ? std::string(shown.substr(0, 40)) + "…" : shown);
  }
  }
}

std::nullptr_t Parser::expected(std::string_view wanted) {
  if (is(TokenKind::Broken)) {
    failed_ = true;
    return nullptr;
  }
  if (const RefusedWord *word = refusedWord(kind()))
    return report(ErrorCode::E0107, token().span,
                  fmt::format("\"{}\" is not part of .lnet", spelling(kind())),
                  std::string(word->help));
  if (isRefusedOperator(kind()))
    return refuse(token().span, fmt::format("\"{}\"", spelling(kind())));
  return error(ErrorCode::E0106, token().span, "expected {}, found {}", wanted, found());
}

bool Parser::tooDeep(uint64_t height, Span span) {
  report(ErrorCode::E0109, span,
         fmt::format("nested {} deep, the limit is {}", std::min(height, limits_.depth + 1),
                     limits_.depth),
         "--limit depth=N changes the limit");
  return false;
}

std::unique_ptr<Tree> Parser::run() {
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

/// Goes to the next statement; the block of a heading that failed is read for its own errors.
void Parser::recover(std::vector<Stmt *> &block) {
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

void Parser::parseStatement(std::vector<Stmt *> &block) {
  Descent descent(*this);
  failed_ = false;
  bool dropped = droppedHeading_;
  droppedHeading_ = false;
  if (!mayDescend())
    return recover(block);
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
    recover(block);
    return;
  }
  bool compound =
      is(TokenKind::KwDef) || is(TokenKind::KwFor) || is(TokenKind::KwIf) || is(TokenKind::KwWith);
  bool refused = !compound && refuseStatement();
  if (refused || (compound && !parseCompound(block))) {
    bool heading = compound || refused;
    recover(block);
    droppedHeading_ |= heading;
    return;
  }
  if (!compound)
    parseSimpleLine(block);
}

/// Reports statements that are Python's only. True if one stands here.
bool Parser::refuseStatement() {
  if (is(TokenKind::At)) {
    report(ErrorCode::E0107, token().span, "a decorator is not part of .lnet", {});
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
    failed_ = true; // of the `match` that was reported
    return true;
  }
  const RefusedWord *word = refusedWord(kind());
  if (word)
    expected("a statement");
  return word != nullptr;
}

void Parser::parseSimpleLine(std::vector<Stmt *> &block) {
  while (true) {
    bool match = is(TokenKind::Name) && text(token().span) == "match";
    Span first = token().span;
    Stmt *stmt = parseSmall();
    if (stmt && match && is(TokenKind::Colon) && kind(1) == TokenKind::Newline) {
      report(ErrorCode::E0107, first, "\"match\" is not part of .lnet", "if … elif … else");
      matchRefused_ = true;
    }
    if (!stmt || failed_)
      return recover(block);
    block.push_back(stmt);
    if (accept(TokenKind::Newline))
      return;
    if (!is(TokenKind::Semicolon)) {
      expected("the end of the line");
      return recover(block);
    }
    take();
    if (accept(TokenKind::Newline))
      return;
  }
}

Stmt *Parser::parseSmall() {
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
Stmt *Parser::parseImport() {
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
    return refuse(token().span, "\"import *\"");
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

NameExpr *Parser::parseName(std::string_view wanted) {
  if (!is(TokenKind::Name))
    return expected(wanted);
  Span span = take();
  auto *node = make<NameExpr>(ExprKind::Name, span.begin);
  node->name = text(span);
  return node;
}

Stmt *Parser::parseExpressionOrAssignment() {
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
      return refuse(left->span, "assignment to an element");
    if (left->kind == ExprKind::Attribute)
      return refuse(left->span, "assignment to an attribute");
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

Stmt *Parser::finishAssignment(Expr *left) {
  if (!checkTargets(left))
    return nullptr;
  take(TokenRole::Binary);
  Expr *value = parseExpressions();
  if (!value)
    return nullptr;
  if (is(TokenKind::Equal))
    return refuse(token().span, "an assignment to several targets in a chain");
  auto *stmt = makeStmt<AssignStmt>(StmtKind::Assign, left->span.begin);
  stmt->targets = left;
  stmt->value = value;
  stmt->height = std::max(left->height, value->height);
  return stmt;
}

/// The left of `=` was read as an expression: only names and tuples of them may stand there.
bool Parser::checkTargets(Expr *targets) {
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
    refuse(targets->span, "assignment to an element");
    return false;
  case ExprKind::Attribute:
    refuse(targets->span, "assignment to an attribute");
    return false;
  case ExprKind::List:
    refuse(targets->span, "assignment to a list display", "a, b = …");
    return false;
  default:
    error(ErrorCode::E0106, targets->span, "expected a name before \"=\", found a value");
    return false;
  }
}

Stmt *Parser::parseAnnotated(Expr *target) {
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
TypeNode *Parser::parseType() {
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
    if (!is(TokenKind::Name))
      return expected("a type");
    type->nameSpan = take();
    type->name = text(type->nameSpan);
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

/// targets = target { "," target } [ "," ]
Expr *Parser::parseTargets() {
  uint32_t begin = token().span.begin;
  Expr *first = parseTarget();
  if (!first || !is(TokenKind::Comma))
    return first;
  std::vector<Expr *> elements{first};
  while (is(TokenKind::Comma)) {
    size_t comma = at_;
    take();
    if (!is(TokenKind::Name) && !is(TokenKind::LParen)) {
      if (elements.size() > 1)
        tree_->tokens.tokens[comma].role = TokenRole::NeedlessComma;
      break;
    }
    elements.push_back(parseTarget());
    if (!elements.back())
      return nullptr;
  }
  auto *node = make<SequenceExpr>(ExprKind::Tuple, begin);
  node->elements = tree_->copy(elements);
  return raise(node, node->elements);
}

/// target = NAME | "(" targets ")"
Expr *Parser::parseTarget() {
  Descent descent(*this);
  if (!mayDescend())
    return nullptr;
  if (is(TokenKind::LParen)) {
    uint32_t open = uint32_t(at_) + 1;
    take(TokenRole::Group);
    Expr *inner = parseTargets();
    uint32_t close = uint32_t(at_) + 1;
    if (!inner || !expect(TokenKind::RParen, "\")\" or \",\"", TokenRole::Close))
      return nullptr;
    if (inner->groupOpen) {
      tree_->tokens.tokens[inner->groupOpen - 1].role = TokenRole::NeedlessGroup;
      tree_->tokens.tokens[inner->groupClose - 1].role = TokenRole::NeedlessClose;
    }
    inner->groupOpen = open;
    inner->groupClose = close;
    return inner;
  }
  if (is(TokenKind::Star))
    return refuse(token().span, "\"*\" before a target");
  NameExpr *name = parseName("a name");
  if (name && is(TokenKind::LBracket))
    return refuse(token().span, "assignment to an element");
  if (name && is(TokenKind::Dot))
    return refuse(token().span, "assignment to an attribute");
  return name;
}

} // namespace lstmc::lnet
