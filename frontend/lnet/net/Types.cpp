#include "frontend/lnet/net/Types.h"

#include <algorithm>

namespace lstmc::lnet {

using ExtentKind = TypeValue::Extent::Kind;

Types::Types(Interpreter &interpreter, const DimNames &dims)
    : interpreter_(interpreter), run_(interpreter.run), dims_(dims) {}

//===---- annotations -----------------------------------------------------------------------===//

std::shared_ptr<TypeValue> Types::evaluate(const TypeNode *node) {
  auto type = std::make_shared<TypeValue>();
  type->span = node->span;
  type->module = run_.at.module;
  if (node->name.empty()) {
    for (const TypeNode *part : node->parts) {
      type->parts.push_back(evaluate(part));
      type->unknown |= type->parts.back()->unknown;
    }
    return type->parts.size() == 1 ? type->parts[0] : type;
  }
  evaluateDType(node, *type);
  type->hasDims = node->hasDims;
  for (const Expr *dim : node->dims)
    type->unknown |= !evaluateExtent(dim, *type);
  type->unknown |= !checkRank(run_, type->extents.size(), node->span);
  return type;
}

void Types::evaluateDType(const TypeNode *node, TypeValue &type) {
  type.dtype = parseDType(node->name);
  if (type.dtype)
    return;
  std::vector<std::string_view> names;
  for (int i = 0; i < kDTypeCount; ++i) {
    names.push_back(dtypeLongName(DType(i)));
    names.push_back(dtypeName(DType(i)));
  }
  run_.unknownName(ErrorCode::E0201, node->nameSpan,
                   fmt::format("no type is named \"{}\"", node->name), NameKind::Type, node->name,
                   names);
  type.unknown = true;
}

bool Types::evaluateExtent(const Expr *expr, TypeValue &type) {
  if (expr->kind == ExprKind::Ellipsis)
    return addEllipsis(expr, type);
  if (expr->kind == ExprKind::Name && static_cast<const NameExpr *>(expr)->name == "_") {
    type.extents.push_back({ExtentKind::Infer});
    return true;
  }
  Value value = interpreter_.evaluate(expr);
  if (value.isUnknown())
    return false;
  if (!value.is(ValueKind::Integer)) {
    run_.report(run_.makeError(ErrorCode::E0204, expr->span,
                               fmt::format("a dimension is an integer, got {}", reprOf(value)),
                               value.is(ValueKind::None) || value.is(ValueKind::String)
                                   ? "_ is an extent to infer, dim(\"batch\", 32) one with a name"
                                   : ""));
    return false;
  }
  if (!checkExtent(run_, value.integer(), expr->span))
    return false;
  type.extents.push_back({ExtentKind::Known, value.integer(), value.dim()});
  return true;
}

bool Types::addEllipsis(const Expr *expr, TypeValue &type) {
  for (const TypeValue::Extent &extent : type.extents)
    if (extent.kind == ExtentKind::Ellipsis) {
      run_.error(ErrorCode::E0206, expr->span, "a type has \"...\" once");
      return false;
    }
  type.extents.push_back({ExtentKind::Ellipsis});
  return true;
}

symbol::Shape Types::shapeOf(const TypeValue &type) const {
  std::vector<symbol::Dim> dims;
  for (const TypeValue::Extent &extent : type.extents) {
    switch (extent.kind) {
    case ExtentKind::Ellipsis:
      return {};
    case ExtentKind::Infer:
      dims.push_back({});
      break;
    case ExtentKind::Known:
      dims.push_back({extent.extent, dims_.name(extent.dim)});
    }
  }
  return type.hasDims ? symbol::Shape(std::move(dims)) : symbol::Shape();
}

//===---- texts -----------------------------------------------------------------------------===//

std::string Types::text(const TypeValue &type) const {
  std::string text;
  if (!type.parts.empty()) {
    for (auto &part : type.parts)
      text += (text.empty() ? "(" : ", ") + this->text(*part);
    return text + ")";
  }
  text = type.dtype ? std::string(dtypeLongName(*type.dtype)) : "?";
  if (!type.hasDims)
    return text;
  text += '[';
  for (size_t i = 0; i < type.extents.size(); ++i) {
    const TypeValue::Extent &extent = type.extents[i];
    text += i ? ", " : "";
    if (extent.kind == ExtentKind::Known)
      text += (extent.dim ? dims_.name(extent.dim) + "=" : std::string()) +
              std::to_string(extent.extent);
    else
      text += extent.kind == ExtentKind::Infer ? "_" : "...";
  }
  return text + "]";
}

std::string tensorText(const symbol::Symbol &symbol) {
  std::string text = symbol.dtype() ? std::string(dtypeLongName(*symbol.dtype())) : "?";
  symbol::Shape shape = symbol.shape();
  if (!shape.ranked)
    return text + "[...]";
  text += '[';
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    text += i ? ", " : "";
    const symbol::Dim &dim = shape.dims[i];
    text += dim.extent == symbol::kUnknown
                ? "_"
                : (dim.name.empty() ? "" : dim.name + "=") + std::to_string(dim.extent);
  }
  return text + "]";
}

//===---- checks ----------------------------------------------------------------------------===//

namespace {

/// Whether extents agree with the type, as far as both are known.
bool agree(const symbol::Shape &shape, const std::vector<TypeValue::Extent> &extents) {
  auto isEllipsis = [](const TypeValue::Extent &e) { return e.kind == ExtentKind::Ellipsis; };
  size_t ellipsis = std::ranges::find_if(extents, isEllipsis) - extents.begin();
  bool open = ellipsis < extents.size();
  if (open ? shape.dims.size() + 1 < extents.size() : shape.dims.size() != extents.size())
    return false;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (extents[i].kind != ExtentKind::Known)
      continue;
    size_t at = i < ellipsis ? i : i + shape.dims.size() - extents.size();
    int64_t found = shape.dims[at].extent;
    if (found != symbol::kUnknown && found != extents[i].extent)
      return false;
  }
  return true;
}

} // namespace

void Types::check(const Value &value, const std::shared_ptr<TypeValue> &type, std::string_view name,
                  Span span) {
  if (value.isUnknown() || type->unknown)
    return;
  bool tuple = !type->parts.empty();
  bool fits = tuple ? value.is(ValueKind::Tuple) && value.items().size() == type->parts.size()
                    : value.is(ValueKind::Tensor);
  if (!fits) {
    run_.error(ErrorCode::E0204, span, "\"{}\" is declared {}, got {}", name, text(*type),
               reprOf(value));
    return;
  }
  if (tuple) {
    for (size_t i = 0; i < type->parts.size(); ++i)
      check(value.items()[i], type->parts[i], fmt::format("{}[{}]", name, i), span);
    return;
  }
  const symbol::Symbol &symbol = value.as<TensorObject>().symbol;
  Declared declared{symbol, type, std::string(name), run_.place(span)};
  checkDeclared(declared);
  if (!symbol.dtype() || !symbol.shape().known())
    declared_.push_back(std::move(declared));
}

void Types::checkAgain() {
  for (const Declared &declared : declared_)
    checkDeclared(declared);
}

void Types::checkDeclared(const Declared &declared) {
  const TypeValue &type = *declared.type;
  const symbol::Symbol &symbol = declared.symbol;
  bool sameDType = !symbol.dtype() || symbol.dtype() == type.dtype;
  symbol::Shape shape = symbol.shape();
  if (sameDType && (!type.hasDims || !shape.ranked || agree(shape, type.extents)))
    return;
  Diagnostic diagnostic;
  diagnostic.code = sameDType ? ErrorCode::E0207 : ErrorCode::E0208;
  diagnostic.place = declared.place;
  diagnostic.message =
      fmt::format("\"{}\" is declared {} and is {}", declared.name, text(type), tensorText(symbol));
  const SourceFile &file = *type.module->file;
  diagnostic.reasons.push_back(
      {fmt::format("declared at {}", file.placeText(type.span.begin)), file.range(type.span)});
  run_.problems().add(std::move(diagnostic));
}

} // namespace lstmc::lnet
