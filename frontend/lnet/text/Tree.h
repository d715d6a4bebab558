// The syntax tree of a file. Nodes live in the tree's arena and know their bytes; comments stay
// with the tokens.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/lnet/text/Token.h"

namespace lstmc::lnet {

struct Scope; // Resolve.h

enum class ExprKind : uint8_t {
  Name,
  Integer,
  Float,
  String,
  True,
  False,
  None,
  Tuple,
  List,
  Dict,
  Comprehension,
  Unary,
  Binary,
  Compare,
  And,
  Or,
  Not,
  Conditional,
  Lambda,
  Call,
  Index,
  Attribute,
  Slice,
  Ellipsis, ///< in an index only
};

struct Expr {
  ExprKind kind;
  Span span;
  uint32_t height = 1;
  /// Index plus one of the tokens of the round brackets directly around it; 0 if there are none.
  uint32_t groupOpen = 0, groupClose = 0;
};

/// Where a name's value is found, once the name is resolved: in a slot of a frame, or outside of
/// the file.
enum class Binding : uint8_t { Unresolved, Slot, Outside };

struct NameExpr : Expr {
  std::string_view name;
  Binding binding = Binding::Unresolved;
  uint16_t hops = 0; ///< scopes outwards
  /// For Outside: index plus one in Names::outside_, cached on first lookup; 0 before.
  mutable uint32_t slot = 0;
};
struct IntegerExpr : Expr {
  int64_t value;
};
struct FloatExpr : Expr {
  double value;
};
struct StringExpr : Expr {
  const std::string *value; ///< neighbouring literals are joined; owned by the tree
};
struct SequenceExpr : Expr { ///< Tuple, List
  std::span<Expr *> elements;
};
struct DictExpr : Expr {
  std::span<Expr *> keys, values;
};
struct ComprehensionExpr : Expr {
  Expr *element;
  Expr *targets;
  Expr *iterable;
  Expr *condition; ///< may be null
  Scope *scope = nullptr;
};
struct UnaryExpr : Expr { ///< Unary (plus or minus), Not
  TokenKind op;
  Expr *operand;
};
struct BinaryExpr : Expr { ///< Binary, And, Or
  TokenKind op;
  Span opSpan;
  Expr *left, *right;
};
enum class CompareOp : uint8_t {
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  In,
  NotIn,
  IsNone,
  IsNotNone
};
struct CompareTerm {
  CompareOp op;
  Span opSpan;
  Expr *right; ///< null for IsNone, IsNotNone
};
struct CompareExpr : Expr {
  Expr *left;
  std::span<CompareTerm> terms;
};
struct ConditionalExpr : Expr {
  Expr *condition, *then, *otherwise;
};
struct LambdaExpr : Expr {
  std::span<NameExpr *> parameters;
  Expr *body;
  Scope *scope = nullptr;
};
struct Argument {
  std::string_view name; ///< empty: by position
  Span nameSpan;
  bool star = false;
  Expr *value;
};
struct CallExpr : Expr {
  Expr *callee;
  std::span<Argument> arguments;
};
struct IndexExpr : Expr {
  Expr *base;
  std::span<Expr *> items;
  bool isTuple; ///< a comma stands in the index
};
struct AttributeExpr : Expr {
  Expr *base;
  std::string_view name;
  Span nameSpan;
};
struct SliceExpr : Expr {
  Expr *begin, *end, *step; ///< each may be null
};

/// A type annotation: NAME[dims], or several in round brackets.
struct TypeNode {
  Span span;
  std::string_view name; ///< empty: a tuple of `parts`
  Span nameSpan;
  std::span<TypeNode *> parts;
  uint32_t groupOpen = 0, groupClose = 0; ///< tokens of the brackets around `parts`, as in Expr
  bool hasDims = false;
  std::span<Expr *> dims; ///< Ellipsis among them
};

enum class StmtKind : uint8_t {
  Expression,
  Assign,
  Annotated,
  Augmented,
  Import,
  Return,
  Assert,
  Pass,
  Def,
  For,
  If,
  With
};

struct Stmt {
  StmtKind kind;
  Span span; ///< of a compound statement: its heading
  uint32_t height = 1;
};
using Block = std::span<Stmt *>;

struct ExpressionStmt : Stmt {
  Expr *value;
};
struct AssignStmt : Stmt {
  Expr *targets; ///< Name, or Tuple of such
  Expr *value;
};
struct AnnotatedStmt : Stmt {
  NameExpr *target;
  TypeNode *type;
  Expr *value;
};
struct AugmentedStmt : Stmt {
  NameExpr *target;
  TokenKind op; ///< Plus, Minus, Star, Slash
  Span opSpan;
  Expr *value;
};
struct ImportedName {
  std::string_view name;
  Span nameSpan;
  NameExpr *target;
};
struct ImportStmt : Stmt {
  std::string_view module; ///< as written: `cells.gates`
  Span moduleSpan;
  std::span<ImportedName> names;
};
struct ReturnStmt : Stmt {
  Expr *value; ///< may be null
};
struct AssertStmt : Stmt {
  Expr *condition;
  Expr *message; ///< may be null
};
struct Parameter {
  NameExpr *name;
  TypeNode *type;     ///< may be null
  Expr *defaultValue; ///< may be null
};
struct DefStmt : Stmt {
  NameExpr *name;
  std::span<Parameter> parameters;
  TypeNode *result; ///< may be null
  Block body;
  Scope *scope = nullptr;
};
struct ForStmt : Stmt {
  Expr *targets;
  Expr *iterable;
  Block body;
};
struct IfStmt : Stmt { ///< `elif` is an IfStmt alone in `otherwise`
  Expr *condition;
  Block body, otherwise;
};
struct ScopeItem {
  std::string_view name;
  Span nameSpan;
  CallExpr *call;
};
struct WithStmt : Stmt {
  std::span<ScopeItem> scopes;
  Block body;
};

/// A parsed file: owns its nodes.
class Tree {
public:
  Block statements;
  Tokens tokens;
  Scope *scope = nullptr;

  template <typename T> T *make() { return new (memory_.allocate(sizeof(T), alignof(T))) T(); }
  template <typename T> std::span<T> copy(const std::vector<T> &items) {
    if (items.empty())
      return {};
    T *data = std::pmr::polymorphic_allocator<T>(&memory_).allocate(items.size());
    std::uninitialized_copy(items.begin(), items.end(), data);
    return {data, items.size()};
  }
  const std::string *keep(std::string text) { return &strings_.emplace_back(std::move(text)); }
  Scope *keep(const std::shared_ptr<Scope> &scope) {
    scopes_.push_back(scope);
    return scope.get();
  }

private:
  std::pmr::monotonic_buffer_resource memory_;
  std::deque<std::string> strings_;
  std::vector<std::shared_ptr<Scope>> scopes_;
};

} // namespace lstmc::lnet
