#include "frontend/lnet/format/NeedlessGroups.h"

namespace lstmc::lnet {

namespace {

/// Precedence of an expression, from loose to tight. An operand needs brackets if its precedence is
/// lower than its position requires.
enum Level { kTuple, kExpr, kOr, kAnd, kNot, kCompare, kSum, kProduct, kUnary, kPower, kPost };

Level levelOf(const Expr *expr) {
  switch (expr->kind) {
  case ExprKind::Tuple:
    return static_cast<const SequenceExpr *>(expr)->elements.empty() ? kPost : kTuple;
  case ExprKind::Conditional:
  case ExprKind::Lambda:
    return kExpr;
  case ExprKind::Or:
    return kOr;
  case ExprKind::And:
    return kAnd;
  case ExprKind::Not:
    return kNot;
  case ExprKind::Compare:
    return kCompare;
  case ExprKind::Unary:
    return kUnary;
  case ExprKind::Binary:
    switch (static_cast<const BinaryExpr *>(expr)->op) {
    case TokenKind::Plus:
    case TokenKind::Minus:
      return kSum;
    case TokenKind::DoubleStar:
      return kPower;
    default:
      return kProduct;
    }
  default:
    return kPost;
  }
}

class Marker {
public:
  explicit Marker(Tree &tree) : tokens_(tree.tokens.tokens) {}

  void block(Block statements) {
    for (Stmt *stmt : statements)
      statement(stmt);
  }

private:
  void statement(Stmt *stmt) {
    switch (stmt->kind) {
    case StmtKind::Expression:
      return expr(static_cast<ExpressionStmt *>(stmt)->value, kTuple);
    case StmtKind::Assign:
      expr(static_cast<AssignStmt *>(stmt)->targets, kTuple);
      return expr(static_cast<AssignStmt *>(stmt)->value, kTuple);
    case StmtKind::Annotated:
      type(static_cast<AnnotatedStmt *>(stmt)->type);
      return expr(static_cast<AnnotatedStmt *>(stmt)->value, kTuple);
    case StmtKind::Augmented:
      return expr(static_cast<AugmentedStmt *>(stmt)->value, kTuple);
    case StmtKind::Return:
      return expr(static_cast<ReturnStmt *>(stmt)->value, kTuple);
    case StmtKind::Assert:
      expr(static_cast<AssertStmt *>(stmt)->condition, kExpr);
      return expr(static_cast<AssertStmt *>(stmt)->message, kExpr);
    case StmtKind::Import:
    case StmtKind::Pass:
      return;
    case StmtKind::Def: {
      auto *def = static_cast<DefStmt *>(stmt);
      for (Parameter &parameter : def->parameters) {
        type(parameter.type);
        expr(parameter.defaultValue, kExpr);
      }
      type(def->result);
      return block(def->body);
    }
    case StmtKind::For:
      expr(static_cast<ForStmt *>(stmt)->targets, kTuple);
      expr(static_cast<ForStmt *>(stmt)->iterable, kTuple);
      return block(static_cast<ForStmt *>(stmt)->body);
    case StmtKind::If:
      expr(static_cast<IfStmt *>(stmt)->condition, kExpr);
      block(static_cast<IfStmt *>(stmt)->body);
      return block(static_cast<IfStmt *>(stmt)->otherwise);
    case StmtKind::With:
      for (ScopeItem &scope : static_cast<WithStmt *>(stmt)->scopes)
        expr(scope.call, kExpr);
      return block(static_cast<WithStmt *>(stmt)->body);
    }
  }

  void mark(uint32_t open, uint32_t close) {
    tokens_[open - 1].role = TokenRole::NeedlessGroup;
    tokens_[close - 1].role = TokenRole::NeedlessClose;
  }

  void type(TypeNode *node) {
    if (!node)
      return;
    if (node->parts.size() == 1)
      mark(node->groupOpen, node->groupClose);
    for (TypeNode *part : node->parts)
      type(part);
    for (Expr *dim : node->dims)
      expr(dim, kExpr);
  }

  void all(std::span<Expr *> exprs, Level needed) {
    for (Expr *each : exprs)
      expr(each, needed);
  }

  void expr(Expr *node, Level needed) {
    if (!node)
      return;
    bool emptyTuple =
        node->kind == ExprKind::Tuple && static_cast<SequenceExpr *>(node)->elements.empty();
    if (node->groupOpen && !emptyTuple && levelOf(node) >= needed)
      mark(node->groupOpen, node->groupClose);
    children(node);
  }

  void children(Expr *node) {
    switch (node->kind) {
    case ExprKind::Tuple:
    case ExprKind::List:
      return all(static_cast<SequenceExpr *>(node)->elements, kExpr);
    case ExprKind::Dict:
      all(static_cast<DictExpr *>(node)->keys, kExpr);
      return all(static_cast<DictExpr *>(node)->values, kExpr);
    case ExprKind::Comprehension: {
      auto *comprehension = static_cast<ComprehensionExpr *>(node);
      expr(comprehension->element, kExpr);
      expr(comprehension->targets, kTuple);
      expr(comprehension->iterable, kOr);
      return expr(comprehension->condition, kOr);
    }
    case ExprKind::Unary:
      return expr(static_cast<UnaryExpr *>(node)->operand, kUnary);
    case ExprKind::Not:
      return expr(static_cast<UnaryExpr *>(node)->operand, kNot);
    case ExprKind::Or:
      return both(node, kAnd, kAnd);
    case ExprKind::And:
      return both(node, kNot, kNot);
    case ExprKind::Binary:
      switch (levelOf(node)) {
      case kSum:
        return both(node, kSum, kProduct);
      case kPower:
        return both(node, kPost, kUnary);
      default:
        return both(node, kProduct, kUnary);
      }
    case ExprKind::Compare:
      expr(static_cast<CompareExpr *>(node)->left, kSum);
      for (CompareTerm &term : static_cast<CompareExpr *>(node)->terms)
        expr(term.right, kSum);
      return;
    case ExprKind::Conditional:
      expr(static_cast<ConditionalExpr *>(node)->then, kOr);
      expr(static_cast<ConditionalExpr *>(node)->condition, kOr);
      return expr(static_cast<ConditionalExpr *>(node)->otherwise, kExpr);
    case ExprKind::Lambda:
      return expr(static_cast<LambdaExpr *>(node)->body, kExpr);
    case ExprKind::Call:
      expr(static_cast<CallExpr *>(node)->callee, kPost);
      for (Argument &argument : static_cast<CallExpr *>(node)->arguments)
        expr(argument.value, kExpr);
      return;
    case ExprKind::Index: {
      auto *index = static_cast<IndexExpr *>(node);
      expr(index->base, kPost);
      return all(index->items, index->isTuple ? kExpr : kTuple);
    }
    case ExprKind::Attribute:
      return expr(static_cast<AttributeExpr *>(node)->base, kPost);
    case ExprKind::Slice:
      expr(static_cast<SliceExpr *>(node)->begin, kExpr);
      expr(static_cast<SliceExpr *>(node)->end, kExpr);
      return expr(static_cast<SliceExpr *>(node)->step, kExpr);
    default:
      return;
    }
  }

  void both(Expr *node, Level left, Level right) {
    expr(static_cast<BinaryExpr *>(node)->left, left);
    expr(static_cast<BinaryExpr *>(node)->right, right);
  }

  std::vector<Token> &tokens_;
};

} // namespace

void markNeedlessGroups(Tree &tree) { Marker(tree).block(tree.statements); }

} // namespace lstmc::lnet
