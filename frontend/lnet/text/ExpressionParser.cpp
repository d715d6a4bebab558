#include "frontend/lnet/text/ExpressionParser.h"

#include <optional>
#include <utility>

#include "frontend/lnet/text/Lexer.h"

namespace lstmc::lnet {

/// exprs = expr { "," expr } [ "," ]; a comma makes it a tuple.
Expr *ExpressionParser::parseExpressions(bool *tuple) {
  uint32_t begin = token().span.begin;
  Expr *first = parseExpr();
  if (tuple)
    *tuple = false;
  if (!first || !is(TokenKind::Comma))
    return first;
  std::vector<Expr *> elements{first};
  size_t comma = 0;
  while (is(TokenKind::Comma)) {
    comma = at_;
    take();
    switch (kind()) {
    case TokenKind::RParen:
    case TokenKind::RBracket:
    case TokenKind::RBrace:
    case TokenKind::Newline:
    case TokenKind::Semicolon:
    case TokenKind::Equal:
    case TokenKind::Colon:
    case TokenKind::End:
      if (elements.size() > 1)
        tree_->tokens.tokens[comma].role = TokenRole::NeedlessComma;
      comma = 0;
      break;
    default:
      elements.push_back(parseExpr());
      if (!elements.back())
        return nullptr;
      continue;
    }
    break;
  }
  if (tuple)
    *tuple = true;
  auto *node = make<SequenceExpr>(ExprKind::Tuple, begin);
  node->elements = tree_->copy(elements);
  return raise(node, node->elements);
}

Expr *ExpressionParser::parseExpr() {
  Descent descent(*this);
  if (!mayDescend())
    return nullptr;
  if (is(TokenKind::KwLambda))
    return parseLambda();
  if (is(TokenKind::Star))
    return refuse(token().span, "\"*\" outside the arguments of a call", "a + b joins lists");
  uint32_t begin = token().span.begin;
  Expr *then = parseOr();
  if (!then || !is(TokenKind::KwIf))
    return then;
  take();
  Expr *condition = parseOr();
  if (!condition || !expect(TokenKind::KwElse, "\"else\""))
    return nullptr;
  Expr *otherwise = parseExpr();
  if (!otherwise)
    return nullptr;
  auto *node = make<ConditionalExpr>(ExprKind::Conditional, begin);
  node->condition = condition;
  node->then = then;
  node->otherwise = otherwise;
  return raise(node, condition, then, otherwise);
}

Expr *ExpressionParser::parseLambda() {
  uint32_t begin = take().begin;
  std::vector<NameExpr *> parameters;
  while (!is(TokenKind::Colon)) {
    if (is(TokenKind::Star) || is(TokenKind::DoubleStar))
      return refuse(token().span, is(TokenKind::Star) ? "\"*args\"" : "\"**kw\"",
                    "name each parameter, or take one list: lambda rest: …");
    NameExpr *name = parseName("a parameter or \":\"");
    if (!name)
      return nullptr;
    for (NameExpr *other : parameters)
      if (other->name == name->name)
        return error(ErrorCode::E0106, name->span, "parameter \"{}\" stands twice", name->name);
    parameters.push_back(name);
    if (!is(TokenKind::Comma))
      break;
    take();
    if (is(TokenKind::Colon))
      return expected("a parameter");
  }
  if (is(TokenKind::Equal))
    return refuse(token().span, "a default in \"lambda\"", "def f(x, k=2): return x");
  if (!expect(TokenKind::Colon, "\",\" or \":\"", TokenRole::Colon))
    return nullptr;
  ++functions_;
  Expr *body = parseExpr();
  --functions_;
  if (!body)
    return nullptr;
  auto *node = make<LambdaExpr>(ExprKind::Lambda, begin);
  node->parameters = tree_->copy(parameters);
  node->body = body;
  return raise(node, body);
}

/// left = operand { sign operand }, from the left.
Expr *ExpressionParser::parseFromLeft(ExprKind node, std::initializer_list<TokenKind> signs,
                                      Expr *(ExpressionParser::*operand)()) {
  uint32_t begin = token().span.begin;
  Expr *left = (this->*operand)();
  while (left && std::find(signs.begin(), signs.end(), kind()) != signs.end()) {
    TokenKind op = kind();
    Span opSpan = take(TokenRole::Binary);
    Expr *right = (this->*operand)();
    left = right ? makeBinary(node, begin, left, op, opSpan, right) : nullptr;
  }
  return left;
}

Expr *ExpressionParser::makeBinary(ExprKind kind, uint32_t begin, Expr *left, TokenKind op,
                                   Span opSpan, Expr *right) {
  auto *node = make<BinaryExpr>(kind, begin);
  node->op = op;
  node->opSpan = opSpan;
  node->left = left;
  node->right = right;
  return raise(node, left, right);
}

Expr *ExpressionParser::parseOr() {
  return parseFromLeft(ExprKind::Or, {TokenKind::KwOr}, &ExpressionParser::parseAnd);
}

Expr *ExpressionParser::parseAnd() {
  return parseFromLeft(ExprKind::And, {TokenKind::KwAnd}, &ExpressionParser::parseNot);
}

Expr *ExpressionParser::parseNot() {
  if (!is(TokenKind::KwNot))
    return parseComparison();
  Descent descent(*this);
  if (!mayDescend())
    return nullptr;
  uint32_t begin = take().begin;
  Expr *operand = parseNot();
  if (!operand)
    return nullptr;
  auto *node = make<UnaryExpr>(ExprKind::Not, begin);
  node->op = TokenKind::KwNot;
  node->operand = operand;
  return raise(node, operand);
}

/// The comparison that this token is by itself.
static std::optional<CompareOp> compareOpOf(TokenKind kind) {
  constexpr std::pair<TokenKind, CompareOp> kOps[] = {
      {TokenKind::EqualEqual, CompareOp::Equal}, {TokenKind::NotEqual, CompareOp::NotEqual},
      {TokenKind::Less, CompareOp::Less},        {TokenKind::LessEqual, CompareOp::LessEqual},
      {TokenKind::Greater, CompareOp::Greater},  {TokenKind::GreaterEqual, CompareOp::GreaterEqual},
      {TokenKind::KwIn, CompareOp::In},
  };
  for (auto [token, op] : kOps)
    if (token == kind)
      return op;
  return std::nullopt;
}

/// Takes a comparison operator if there is one here. False after an error.
bool ExpressionParser::parseCompareOp(CompareTerm &term, bool &found) {
  found = true;
  term.opSpan = token().span;
  if (std::optional<CompareOp> op = compareOpOf(kind())) {
    term.op = *op;
  } else if (is(TokenKind::KwNot) && kind(1) == TokenKind::KwIn) {
    take();
    term.op = CompareOp::NotIn;
  } else if (is(TokenKind::KwIs)) {
    Span is = take();
    term.op = accept(TokenKind::KwNot) ? CompareOp::IsNotNone : CompareOp::IsNone;
    if (accept(TokenKind::KwNone)) {
      term.opSpan.end = lastEnd_;
      term.right = nullptr;
      return true;
    }
    report(ErrorCode::E0108, is, "\"is\" with anything but None is not part of .lnet",
           term.op == CompareOp::IsNone ? "==" : "!=");
    return false;
  } else {
    found = false;
    return true;
  }
  take(TokenRole::Binary);
  term.opSpan.end = lastEnd_;
  term.right = parseSum();
  return term.right != nullptr;
}

Expr *ExpressionParser::parseComparison() {
  uint32_t begin = token().span.begin;
  Expr *left = parseSum();
  if (!left)
    return nullptr;
  std::vector<CompareTerm> terms;
  uint32_t height = left->height;
  for (bool found = true; found;) {
    CompareTerm term;
    if (!parseCompareOp(term, found))
      return nullptr;
    if (found) {
      terms.push_back(term);
      height = std::max(height, heightOf(term.right));
    }
  }
  if (terms.empty())
    return left;
  auto *node = make<CompareExpr>(ExprKind::Compare, begin);
  node->left = left;
  node->terms = tree_->copy(terms);
  return setHeight(node, height) ? node : nullptr;
}

Expr *ExpressionParser::parseSum() {
  return parseFromLeft(ExprKind::Binary, {TokenKind::Plus, TokenKind::Minus},
                       &ExpressionParser::parseProduct);
}

Expr *ExpressionParser::parseProduct() {
  return parseFromLeft(ExprKind::Binary,
                       {TokenKind::Star, TokenKind::Slash, TokenKind::DoubleSlash,
                        TokenKind::Percent, TokenKind::At},
                       &ExpressionParser::parseUnary);
}

Expr *ExpressionParser::parseUnary() {
  if (!is(TokenKind::Minus) && !is(TokenKind::Plus))
    return parsePower();
  Descent descent(*this);
  if (!mayDescend())
    return nullptr;
  TokenKind op = kind();
  uint32_t begin = take(TokenRole::Unary).begin;
  if (op == TokenKind::Minus && is(TokenKind::Integer) && kind(1) != TokenKind::DoubleStar &&
      isNegatedLeast(text(token().span))) {
    take();
    auto *least = make<IntegerExpr>(ExprKind::Integer, begin);
    least->value = INT64_MIN;
    return least;
  }
  Expr *operand = parseUnary();
  if (!operand)
    return nullptr;
  auto *node = make<UnaryExpr>(ExprKind::Unary, begin);
  node->op = op;
  node->operand = operand;
  return raise(node, operand);
}

Expr *ExpressionParser::parsePower() {
  uint32_t begin = token().span.begin;
  Expr *base = parsePost();
  if (!base || !is(TokenKind::DoubleStar))
    return base;
  Descent descent(*this);
  if (!mayDescend())
    return nullptr;
  Span op = take(TokenRole::Tight);
  Expr *exponent = parseUnary();
  if (!exponent)
    return nullptr;
  return makeBinary(ExprKind::Binary, begin, base, TokenKind::DoubleStar, op, exponent);
}

Expr *ExpressionParser::parsePost() {
  Expr *expr = parseAtom();
  while (expr) {
    if (is(TokenKind::LParen)) {
      expr = parseCall(expr);
    } else if (is(TokenKind::LBracket)) {
      expr = parseIndex(expr);
    } else if (is(TokenKind::Dot)) {
      take(TokenRole::Tight);
      if (!is(TokenKind::Name))
        return expected("a name");
      Span name = take();
      auto *node = make<AttributeExpr>(ExprKind::Attribute, expr->span.begin);
      node->base = expr;
      node->name = text(name);
      node->nameSpan = name;
      expr = raise(node, expr);
    } else {
      return expr;
    }
  }
  return nullptr;
}

Expr *ExpressionParser::parseCall(Expr *callee) {
  take(TokenRole::Open);
  std::vector<Argument> arguments;
  uint32_t height = callee->height;
  while (!is(TokenKind::RParen)) {
    Argument argument;
    if (is(TokenKind::DoubleStar))
      return refuse(token().span, "\"**kw\"", "write each argument: f(x, num_hidden=n)");
    if (is(TokenKind::Star)) {
      if (!arguments.empty() && !arguments.back().name.empty())
        return expected("an argument by name");
      take(TokenRole::Star);
      argument.star = true;
    } else if (is(TokenKind::Name) && kind(1) == TokenKind::Equal) {
      argument.nameSpan = take();
      argument.name = text(argument.nameSpan);
      take(TokenRole::Tight);
      for (Argument &other : arguments)
        if (other.name == argument.name)
          return error(ErrorCode::E0106, argument.nameSpan, "argument \"{}\" stands twice",
                       argument.name);
    } else if (!arguments.empty() && !arguments.back().name.empty()) {
      return expected("an argument by name");
    }
    uint32_t begin = token().span.begin;
    argument.value = parseExpr();
    if (!argument.value)
      return nullptr;
    if (is(TokenKind::KwFor) || is(TokenKind::KwAsync))
      return refuse({begin, lastEnd_}, "a generator expression", "[x for x in y]");
    height = std::max(height, argument.value->height);
    arguments.push_back(argument);
    if (!is(TokenKind::Comma))
      break;
    take(kind(1) == TokenKind::RParen ? TokenRole::NeedlessComma : TokenRole::Plain);
  }
  if (!expect(TokenKind::RParen, "\")\" or \",\"", TokenRole::Close))
    return nullptr;
  auto *node = make<CallExpr>(ExprKind::Call, callee->span.begin);
  node->callee = callee;
  node->arguments = tree_->copy(arguments);
  return setHeight(node, height) ? node : nullptr;
}

Expr *ExpressionParser::parseIndexItem() {
  uint32_t begin = token().span.begin;
  if (is(TokenKind::Ellipsis)) {
    take();
    return make<Expr>(ExprKind::Ellipsis, begin);
  }
  Expr *parts[3] = {};
  int part = 0;
  bool slice = false;
  for (;; ++part) {
    if (!is(TokenKind::Colon) && !is(TokenKind::Comma) && !is(TokenKind::RBracket)) {
      parts[part] = parseExpr();
      if (!parts[part])
        return nullptr;
    } else if (part == 0 && !is(TokenKind::Colon)) {
      return expected("an index");
    }
    if (part == 2 || !is(TokenKind::Colon))
      break;
    take(TokenRole::Tight);
    slice = true;
  }
  if (!slice)
    return parts[0];
  auto *node = make<SliceExpr>(ExprKind::Slice, begin);
  node->begin = parts[0];
  node->end = parts[1];
  node->step = parts[2];
  return raise(node, parts[0], parts[1], parts[2]);
}

Expr *ExpressionParser::parseIndex(Expr *base) {
  take(TokenRole::Open);
  std::vector<Expr *> items;
  bool tuple = false;
  do {
    Expr *item = parseIndexItem();
    if (!item)
      return nullptr;
    items.push_back(item);
    if (!is(TokenKind::Comma))
      break;
    tuple = true;
    take(kind(1) == TokenKind::RBracket && items.size() > 1 ? TokenRole::NeedlessComma
                                                            : TokenRole::Plain);
  } while (!is(TokenKind::RBracket));
  if (!expect(TokenKind::RBracket, "\"]\" or \",\"", TokenRole::Close))
    return nullptr;
  auto *node = make<IndexExpr>(ExprKind::Index, base->span.begin);
  node->base = base;
  node->items = tree_->copy(items);
  node->isTuple = tuple;
  return raise(node, base, node->items);
}

Expr *ExpressionParser::parseAtom() {
  uint32_t begin = token().span.begin;
  switch (kind()) {
  case TokenKind::Name:
    return parseName("a name");
  case TokenKind::Integer: {
    Span span = take();
    const std::optional<int64_t> value = integerValue(text(span));
    if (!value)
      return error(ErrorCode::E0104, span, "{} does not fit in 64 bits", text(span));
    auto *node = make<IntegerExpr>(ExprKind::Integer, begin);
    node->value = *value;
    return node;
  }
  case TokenKind::Float: {
    Span span = take();
    auto *node = make<FloatExpr>(ExprKind::Float, begin);
    node->value = floatValue(text(span));
    return node;
  }
  case TokenKind::String:
    return parseStrings();
  case TokenKind::KwTrue:
    take();
    return make<Expr>(ExprKind::True, begin);
  case TokenKind::KwFalse:
    take();
    return make<Expr>(ExprKind::False, begin);
  case TokenKind::KwNone:
    take();
    return make<Expr>(ExprKind::None, begin);
  case TokenKind::LParen:
    return parseRound();
  case TokenKind::LBracket:
    return parseSquare();
  case TokenKind::LBrace:
    return parseCurly();
  default:
    return expected("a value");
  }
}

Expr *ExpressionParser::parseStrings() {
  uint32_t begin = token().span.begin;
  std::string value;
  while (is(TokenKind::String)) {
    Span span = take();
    value += stringValue(text(span));
    if (value.size() > limits_.list)
      return report(ErrorCode::E0314, {begin, lastEnd_},
                    fmt::format("string of {} bytes, the limit is {}", value.size(), limits_.list),
                    "--limit list=N changes the limit");
  }
  auto *node = make<StringExpr>(ExprKind::String, begin);
  node->value = tree_->keep(std::move(value));
  return node;
}

Expr *ExpressionParser::parseRound() {
  uint32_t open = uint32_t(at_) + 1;
  uint32_t begin = take(TokenRole::Group).begin;
  Expr *inner;
  bool tuple = false;
  if (is(TokenKind::RParen)) {
    inner = make<SequenceExpr>(ExprKind::Tuple, begin);
    tuple = true;
  } else {
    inner = parseExpressions(&tuple);
    if (!inner)
      return nullptr;
    if (is(TokenKind::KwFor) || is(TokenKind::KwAsync))
      return refuse({begin, lastEnd_}, "a generator expression", "[x for x in y]");
  }
  uint32_t close = uint32_t(at_) + 1;
  if (!expect(TokenKind::RParen, "\")\" or \",\"", TokenRole::Close))
    return nullptr;
  if (inner->groupOpen) {
    tree_->tokens.tokens[inner->groupOpen - 1].role = TokenRole::NeedlessGroup;
    tree_->tokens.tokens[inner->groupClose - 1].role = TokenRole::NeedlessClose;
  }
  inner->groupOpen = open;
  inner->groupClose = close;
  if (tuple)
    inner->span = {begin, lastEnd_};
  return inner;
}

Expr *ExpressionParser::parseSquare() {
  uint32_t begin = take(TokenRole::Group).begin;
  std::vector<Expr *> elements;
  while (!is(TokenKind::RBracket)) {
    Expr *element = parseExpr();
    if (!element)
      return nullptr;
    if (elements.empty() && (is(TokenKind::KwFor) || is(TokenKind::KwAsync)))
      return parseComprehension(element, begin);
    elements.push_back(element);
    if (!is(TokenKind::Comma))
      break;
    take(kind(1) == TokenKind::RBracket ? TokenRole::NeedlessComma : TokenRole::Plain);
  }
  if (!expect(TokenKind::RBracket, "\"]\" or \",\"", TokenRole::Close))
    return nullptr;
  auto *node = make<SequenceExpr>(ExprKind::List, begin);
  node->elements = tree_->copy(elements);
  return raise(node, node->elements);
}

Expr *ExpressionParser::parseComprehension(Expr *element, uint32_t begin) {
  if (!is(TokenKind::KwFor))
    return expected("\"for\"");
  take();
  Expr *targets = parseTargets();
  if (!targets || !expect(TokenKind::KwIn, "\"in\" or \",\""))
    return nullptr;
  Expr *iterable = parseOr();
  if (!iterable)
    return nullptr;
  Expr *condition = nullptr;
  if (accept(TokenKind::KwIf)) {
    condition = parseOr();
    if (!condition)
      return nullptr;
  }
  if (is(TokenKind::KwFor) || is(TokenKind::KwAsync))
    return refuse(token().span, "a second \"for\" in a comprehension",
                  "[[… for y in b] for x in a]");
  if (is(TokenKind::KwIf) && condition)
    return refuse(token().span, "a second \"if\" in a comprehension", "and");
  if (!expect(TokenKind::RBracket, "\"]\"", TokenRole::Close))
    return nullptr;
  auto *node = make<ComprehensionExpr>(ExprKind::Comprehension, begin);
  node->element = element;
  node->targets = targets;
  node->iterable = iterable;
  node->condition = condition;
  return raise(node, element, iterable, condition);
}

Expr *ExpressionParser::parseCurly() {
  uint32_t begin = take(TokenRole::Group).begin;
  std::vector<Expr *> keys, values;
  while (!is(TokenKind::RBrace)) {
    if (is(TokenKind::DoubleStar) || is(TokenKind::Star))
      return refuse(token().span, "unpacking in a display", "a + b joins lists");
    Expr *key = parseExpr();
    if (!key)
      return nullptr;
    if (is(TokenKind::KwFor) || is(TokenKind::KwAsync))
      return refuse({begin, lastEnd_}, "a set comprehension", "[x for x in y]");
    if (is(TokenKind::Comma) || is(TokenKind::RBrace))
      return refuse({begin, lastEnd_}, "a set display", "[x, y]");
    if (!expect(TokenKind::Colon, "\":\"", TokenRole::Colon))
      return nullptr;
    Expr *value = parseExpr();
    if (!value)
      return nullptr;
    if (is(TokenKind::KwFor) || is(TokenKind::KwAsync))
      return refuse({begin, lastEnd_}, "a dict comprehension", "dict([(k, v) for k in y])");
    keys.push_back(key);
    values.push_back(value);
    if (!is(TokenKind::Comma))
      break;
    take(kind(1) == TokenKind::RBrace ? TokenRole::NeedlessComma : TokenRole::Plain);
  }
  if (!expect(TokenKind::RBrace, "\"}\" or \",\"", TokenRole::Close))
    return nullptr;
  auto *node = make<DictExpr>(ExprKind::Dict, begin);
  node->keys = tree_->copy(keys);
  node->values = tree_->copy(values);
  return raise(node, node->keys, node->values);
}

NameExpr *ExpressionParser::parseName(std::string_view wanted) {
  if (!is(TokenKind::Name))
    return expected(wanted);
  Span span = take();
  auto *node = make<NameExpr>(ExprKind::Name, span.begin);
  node->name = text(span);
  return node;
}

/// targets = target { "," target } [ "," ]
Expr *ExpressionParser::parseTargets() {
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
Expr *ExpressionParser::parseTarget() {
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
    return refuse(token().span, "\"*\" before a target", "x, rest = y[0], y[1:]");
  NameExpr *name = parseName("a name");
  if (name && is(TokenKind::LBracket))
    return refuse(token().span, "assignment to an element", kNewValue);
  if (name && is(TokenKind::Dot))
    return refuse(token().span, "assignment to an attribute", "give the value a name of its own");
  return name;
}

} // namespace lstmc::lnet
