#include "frontend/lnet/evaluation/Resolve.h"

#include <memory>

namespace lstmc::lnet {

namespace {

/// Calls `bind` with every name that the block assigns. Bodies of functions are left out.
template <typename Bind> void eachTarget(Expr *targets, Bind &&bind) {
  if (targets->kind == ExprKind::Name)
    return bind(static_cast<NameExpr *>(targets));
  for (Expr *element : static_cast<SequenceExpr *>(targets)->elements)
    eachTarget(element, bind);
}

template <typename Bind> void eachAssigned(Block block, Bind &&bind) {
  for (Stmt *stmt : block) {
    switch (stmt->kind) {
    case StmtKind::Assign:
      eachTarget(static_cast<AssignStmt *>(stmt)->targets, bind);
      break;
    case StmtKind::Annotated:
      bind(static_cast<AnnotatedStmt *>(stmt)->target);
      break;
    case StmtKind::Augmented:
      bind(static_cast<AugmentedStmt *>(stmt)->target);
      break;
    case StmtKind::Import:
      for (ImportedName &name : static_cast<ImportStmt *>(stmt)->names)
        bind(name.target);
      break;
    case StmtKind::Def:
      bind(static_cast<DefStmt *>(stmt)->name);
      break;
    case StmtKind::For:
      eachTarget(static_cast<ForStmt *>(stmt)->targets, bind);
      eachAssigned(static_cast<ForStmt *>(stmt)->body, bind);
      break;
    case StmtKind::If:
      eachAssigned(static_cast<IfStmt *>(stmt)->body, bind);
      eachAssigned(static_cast<IfStmt *>(stmt)->otherwise, bind);
      break;
    case StmtKind::With:
      eachAssigned(static_cast<WithStmt *>(stmt)->body, bind);
      break;
    default:
      break;
    }
  }
}

class Resolver {
public:
  explicit Resolver(Tree &tree) : tree_(tree) {}

  void run() {
    tree_.scope = open(Scope::Kind::File, nullptr);
    eachAssigned(tree_.statements, [&](NameExpr *name) { tree_.scope->slot(name->name); });
    block(tree_.statements, tree_.scope);
  }

private:
  Scope *open(Scope::Kind kind, Scope *parent) {
    auto scope = std::make_shared<Scope>();
    scope->kind = kind;
    scope->parent = parent;
    return tree_.keep(scope);
  }

  void name(NameExpr *expr, Scope *scope) {
    for (uint16_t hops = 0; scope; scope = scope->parent, ++hops) {
      auto at = scope->slots.find(expr->name);
      if (at == scope->slots.end())
        continue;
      expr->binding = Binding::Slot;
      expr->hops = hops;
      expr->slot = at->second;
      return;
    }
    expr->binding = Binding::Outside;
  }

  void block(Block statements, Scope *scope) {
    for (Stmt *stmt : statements)
      statement(stmt, scope);
  }

  void targets(Expr *node, Scope *scope) {
    eachTarget(node, [&](NameExpr *target) { name(target, scope); });
  }

  void statement(Stmt *stmt, Scope *scope) {
    switch (stmt->kind) {
    case StmtKind::Expression:
      return expr(static_cast<ExpressionStmt *>(stmt)->value, scope);
    case StmtKind::Assign:
      targets(static_cast<AssignStmt *>(stmt)->targets, scope);
      return expr(static_cast<AssignStmt *>(stmt)->value, scope);
    case StmtKind::Annotated:
      name(static_cast<AnnotatedStmt *>(stmt)->target, scope);
      type(static_cast<AnnotatedStmt *>(stmt)->type, scope);
      return expr(static_cast<AnnotatedStmt *>(stmt)->value, scope);
    case StmtKind::Augmented:
      name(static_cast<AugmentedStmt *>(stmt)->target, scope);
      return expr(static_cast<AugmentedStmt *>(stmt)->value, scope);
    case StmtKind::Import:
      for (ImportedName &imported : static_cast<ImportStmt *>(stmt)->names)
        name(imported.target, scope);
      return;
    case StmtKind::Return:
      return expr(static_cast<ReturnStmt *>(stmt)->value, scope);
    case StmtKind::Assert:
      expr(static_cast<AssertStmt *>(stmt)->condition, scope);
      return expr(static_cast<AssertStmt *>(stmt)->message, scope);
    case StmtKind::Pass:
      return;
    case StmtKind::Def:
      return def(static_cast<DefStmt *>(stmt), scope);
    case StmtKind::For:
      targets(static_cast<ForStmt *>(stmt)->targets, scope);
      expr(static_cast<ForStmt *>(stmt)->iterable, scope);
      return block(static_cast<ForStmt *>(stmt)->body, scope);
    case StmtKind::If:
      expr(static_cast<IfStmt *>(stmt)->condition, scope);
      block(static_cast<IfStmt *>(stmt)->body, scope);
      return block(static_cast<IfStmt *>(stmt)->otherwise, scope);
    case StmtKind::With:
      for (ScopeItem &item : static_cast<WithStmt *>(stmt)->scopes)
        for (Argument &argument : item.call->arguments)
          expr(argument.value, scope);
      return block(static_cast<WithStmt *>(stmt)->body, scope);
    }
  }

  void def(DefStmt *stmt, Scope *scope) {
    name(stmt->name, scope);
    type(stmt->result, scope);
    Scope *inner = open(Scope::Kind::Function, scope);
    stmt->scope = inner;
    for (Parameter &parameter : stmt->parameters) {
      type(parameter.type, scope);
      expr(parameter.defaultValue, scope);
      inner->slot(parameter.name->name);
      name(parameter.name, inner);
    }
    eachAssigned(stmt->body, [&](NameExpr *assigned) { inner->slot(assigned->name); });
    block(stmt->body, inner);
  }

  void type(TypeNode *node, Scope *scope) {
    if (!node)
      return;
    for (TypeNode *part : node->parts)
      type(part, scope);
    for (Expr *dim : node->dims)
      expr(dim, scope);
  }

  void expr(Expr *node, Scope *scope) {
    if (!node)
      return;
    switch (node->kind) {
    case ExprKind::Name:
      return name(static_cast<NameExpr *>(node), scope);
    case ExprKind::Tuple:
    case ExprKind::List:
      for (Expr *element : static_cast<SequenceExpr *>(node)->elements)
        expr(element, scope);
      return;
    case ExprKind::Dict:
      for (Expr *key : static_cast<DictExpr *>(node)->keys)
        expr(key, scope);
      for (Expr *value : static_cast<DictExpr *>(node)->values)
        expr(value, scope);
      return;
    case ExprKind::Comprehension: {
      auto *comprehension = static_cast<ComprehensionExpr *>(node);
      expr(comprehension->iterable, scope);
      Scope *inner = open(Scope::Kind::Comprehension, scope);
      comprehension->scope = inner;
      eachTarget(comprehension->targets, [&](NameExpr *target) { inner->slot(target->name); });
      targets(comprehension->targets, inner);
      expr(comprehension->element, inner);
      return expr(comprehension->condition, inner);
    }
    case ExprKind::Unary:
    case ExprKind::Not:
      return expr(static_cast<UnaryExpr *>(node)->operand, scope);
    case ExprKind::Binary:
    case ExprKind::And:
    case ExprKind::Or:
      expr(static_cast<BinaryExpr *>(node)->left, scope);
      return expr(static_cast<BinaryExpr *>(node)->right, scope);
    case ExprKind::Compare:
      expr(static_cast<CompareExpr *>(node)->left, scope);
      for (CompareTerm &term : static_cast<CompareExpr *>(node)->terms)
        expr(term.right, scope);
      return;
    case ExprKind::Conditional:
      expr(static_cast<ConditionalExpr *>(node)->condition, scope);
      expr(static_cast<ConditionalExpr *>(node)->then, scope);
      return expr(static_cast<ConditionalExpr *>(node)->otherwise, scope);
    case ExprKind::Lambda: {
      auto *lambda = static_cast<LambdaExpr *>(node);
      lambda->scope = open(Scope::Kind::Lambda, scope);
      for (NameExpr *parameter : lambda->parameters) {
        lambda->scope->slot(parameter->name);
        name(parameter, lambda->scope);
      }
      return expr(lambda->body, lambda->scope);
    }
    case ExprKind::Call:
      expr(static_cast<CallExpr *>(node)->callee, scope);
      for (Argument &argument : static_cast<CallExpr *>(node)->arguments)
        expr(argument.value, scope);
      return;
    case ExprKind::Index:
      expr(static_cast<IndexExpr *>(node)->base, scope);
      for (Expr *item : static_cast<IndexExpr *>(node)->items)
        expr(item, scope);
      return;
    case ExprKind::Attribute:
      return expr(static_cast<AttributeExpr *>(node)->base, scope);
    case ExprKind::Slice:
      expr(static_cast<SliceExpr *>(node)->begin, scope);
      expr(static_cast<SliceExpr *>(node)->end, scope);
      return expr(static_cast<SliceExpr *>(node)->step, scope);
    default:
      return;
    }
  }

  Tree &tree_;
};

} // namespace

void resolve(Tree &tree) { Resolver(tree).run(); }

void assignedNames(Block block, std::vector<const NameExpr *> &names) {
  for (Stmt *stmt : block) {
    switch (stmt->kind) {
    case StmtKind::Expression: {
      Expr *value = static_cast<ExpressionStmt *>(stmt)->value;
      Expr *callee =
          value->kind == ExprKind::Call ? static_cast<CallExpr *>(value)->callee : nullptr;
      if (!callee || callee->kind != ExprKind::Attribute)
        break;
      auto *attribute = static_cast<AttributeExpr *>(callee);
      if ((attribute->name == "append" || attribute->name == "extend") &&
          attribute->base->kind == ExprKind::Name)
        names.push_back(static_cast<NameExpr *>(attribute->base));
      break;
    }
    case StmtKind::For:
      eachTarget(static_cast<ForStmt *>(stmt)->targets,
                 [&](NameExpr *name) { names.push_back(name); });
      assignedNames(static_cast<ForStmt *>(stmt)->body, names);
      break;
    case StmtKind::If:
      assignedNames(static_cast<IfStmt *>(stmt)->body, names);
      assignedNames(static_cast<IfStmt *>(stmt)->otherwise, names);
      break;
    case StmtKind::With:
      assignedNames(static_cast<WithStmt *>(stmt)->body, names);
      break;
    default: {
      Stmt *one[] = {stmt};
      eachAssigned(one, [&](NameExpr *name) { names.push_back(name); });
    }
    }
  }
}

bool returns(Block block) {
  for (Stmt *stmt : block) {
    switch (stmt->kind) {
    case StmtKind::Return:
      return true;
    case StmtKind::For:
      if (returns(static_cast<ForStmt *>(stmt)->body))
        return true;
      break;
    case StmtKind::If:
      if (returns(static_cast<IfStmt *>(stmt)->body) ||
          returns(static_cast<IfStmt *>(stmt)->otherwise))
        return true;
      break;
    case StmtKind::With:
      if (returns(static_cast<WithStmt *>(stmt)->body))
        return true;
      break;
    default:
      break;
    }
  }
  return false;
}

} // namespace lstmc::lnet
