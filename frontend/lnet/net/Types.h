// Type annotations, and whether tensors are what they were declared.
#pragma once

#include "frontend/lnet/evaluation/Interpreter.h"
#include "frontend/lnet/net/Extents.h"

namespace lstmc::lnet {

/// An evaluated type annotation.
struct TypeValue {
  struct Extent {
    enum class Kind { Known, Infer, Ellipsis } kind;
    int64_t extent = 0;
    uint32_t dim = 0; ///< number of the dim that it was written as; 0 if it was not
  };
  std::optional<DType> dtype;
  bool hasDims = false;
  std::vector<Extent> extents;
  std::vector<std::shared_ptr<TypeValue>> parts; ///< of a tuple
  Span span;
  Module *module = nullptr;
  bool unknown = false; ///< an error was reported in it
};

class Types {
public:
  Types(Interpreter &interpreter, const DimNames &dims);

  std::shared_ptr<TypeValue> evaluate(const TypeNode *node);
  /// E0204 for what is no tensor, E0207 and E0208 for one of another shape or dtype. A tensor of
  /// which not all is known yet is checked again by `checkAgain`.
  void check(const Value &value, const std::shared_ptr<TypeValue> &type, std::string_view name,
             Span span);
  /// Once all shapes are known.
  void checkAgain();

  /// The shape for the Symbol API: without rank if the type has `...` or no extents.
  symbol::Shape shapeOf(const TypeValue &type) const;
  /// "float32[batch=32, _]"
  std::string text(const TypeValue &type) const;

private:
  struct Declared {
    symbol::Symbol symbol;
    std::shared_ptr<TypeValue> type;
    std::string name;
    SourceRange place;
  };

  void evaluateDType(const TypeNode *node, TypeValue &type);
  bool evaluateExtent(const Expr *expr, TypeValue &type);
  bool addEllipsis(const Expr *expr, TypeValue &type);
  void checkDeclared(const Declared &declared);

  Interpreter &interpreter_;
  Run &run_;
  const DimNames &dims_;
  std::vector<Declared> declared_; ///< looked at again once all shapes are known
};

/// The same as Types::text, for the known shape and type of a tensor.
std::string tensorText(const symbol::Symbol &symbol);

} // namespace lstmc::lnet
