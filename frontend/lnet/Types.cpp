// Type annotations, and whether tensors are what they were declared.
#include "frontend/lnet/Evaluator.h"
#include "frontend/symbol/Suggest.h"

namespace lstmc::lnet {

std::shared_ptr<TypeValue> Evaluator::evaluateType(const TypeNode *node) {
  auto type = std::make_shared<TypeValue>();
  type->span = node->span;
  type->module = module_;
  if (node->name.empty()) {
    for (const TypeNode *part : node->parts) {
      type->parts.push_back(evaluateType(part));
      type->unknown |= type->parts.back()->unknown;
    }
    if (type->parts.size() == 1)
      return type->parts[0];
    return type;
  }
  type->dtype = parseDType(node->name);
  if (!type->dtype) {
    std::vector<std::string_view> names;
    for (int i = 0; i < kDTypeCount; ++i) {
      names.push_back(dtypeLongName(DType(i)));
      names.push_back(dtypeName(DType(i)));
    }
    report(makeError(ErrorCode::E0201, node->nameSpan,
                     fmt::format("no type is named \"{}\"", node->name),
                     didYouMean(node->name, names)));
    type->unknown = true;
  }
  type->hasDims = node->hasDims;
  for (const Expr *dim : node->dims)
    type->unknown |= !evaluateExtent(dim, *type);
  if (type->extents.size() > options_.limits.rank) {
    report(makeError(ErrorCode::E0319, node->span,
                     fmt::format("tensor of {} dimensions, the limit is {}", type->extents.size(),
                                 options_.limits.rank),
                     "--limit rank=N changes the limit"));
    type->unknown = true;
  }
  return type;
}

bool Evaluator::evaluateExtent(const Expr *expr, TypeValue &type) {
  using Kind = TypeValue::Extent::Kind;
  if (expr->kind == ExprKind::Ellipsis) {
    for (const TypeValue::Extent &extent : type.extents)
      if (extent.kind == Kind::Ellipsis) {
        error(ErrorCode::E0206, expr->span, "a type has \"...\" once");
        return false;
      }
    type.extents.push_back({Kind::Ellipsis});
    return true;
  }
  if (expr->kind == ExprKind::Name && static_cast<const NameExpr *>(expr)->name == "_") {
    type.extents.push_back({Kind::Infer});
    return true;
  }
  Value value = evaluate(expr);
  if (value.isUnknown())
    return false;
  if (!value.is(ValueKind::Integer)) {
    error(ErrorCode::E0204, expr->span, "a dimension is an integer, got {}", reprOf(value));
    return false;
  }
  if (value.integer() < 1) {
    error(ErrorCode::E0206, expr->span, "dimension {} (write _ for one to infer)", value.integer());
    return false;
  }
  type.extents.push_back({Kind::Known, value.integer(), value.dim()});
  return true;
}

/// As far as the API can say it: no rank where the type has `...` or no extents.
symbol::Shape Evaluator::shapeOf(const TypeValue &type) const {
  std::vector<symbol::Dim> dims;
  for (const TypeValue::Extent &extent : type.extents) {
    switch (extent.kind) {
    case TypeValue::Extent::Kind::Ellipsis:
      return {};
    case TypeValue::Extent::Kind::Infer:
      dims.push_back({});
      break;
    case TypeValue::Extent::Kind::Known:
      dims.push_back({extent.extent, extent.dim ? dims_[extent.dim - 1] : std::string()});
    }
  }
  return type.hasDims ? symbol::Shape(std::move(dims)) : symbol::Shape();
}

std::string Evaluator::typeText(const TypeValue &type) const {
  std::string text;
  if (!type.parts.empty()) {
    for (auto &part : type.parts)
      text += (text.empty() ? "(" : ", ") + typeText(*part);
    return text + ")";
  }
  text = type.dtype ? std::string(dtypeLongName(*type.dtype)) : "?";
  if (!type.hasDims)
    return text;
  text += '[';
  for (size_t i = 0; i < type.extents.size(); ++i) {
    const TypeValue::Extent &extent = type.extents[i];
    text += i ? ", " : "";
    if (extent.kind == TypeValue::Extent::Kind::Known)
      text += (extent.dim ? dims_[extent.dim - 1] + "=" : std::string()) +
              std::to_string(extent.extent);
    else
      text += extent.kind == TypeValue::Extent::Kind::Infer ? "_" : "...";
  }
  return text + "]";
}

std::string Evaluator::tensorText(const symbol::Symbol &symbol) const {
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

void Evaluator::checkType(const Value &value, const std::shared_ptr<TypeValue> &type,
                          std::string_view name, Span span) {
  if (value.isUnknown() || type->unknown)
    return;
  if (!type->parts.empty()) {
    if (!value.is(ValueKind::Tuple) || value.items().size() != type->parts.size()) {
      error(ErrorCode::E0204, span, "\"{}\" is declared {}, got {}", name, typeText(*type),
            reprOf(value));
      return;
    }
    for (size_t i = 0; i < type->parts.size(); ++i)
      checkType(value.items()[i], type->parts[i], fmt::format("{}[{}]", name, i), span);
    return;
  }
  if (!value.is(ValueKind::Tensor)) {
    error(ErrorCode::E0204, span, "\"{}\" is declared {}, got {}", name, typeText(*type),
          reprOf(value));
    return;
  }
  const symbol::Symbol &symbol = value.as<TensorObject>().symbol;
  checkDeclared(symbol, type, std::string(name), place(span));
  if (!symbol.dtype() || !symbol.shape().known())
    declared_.push_back({symbol, type, std::string(name), place(span)});
}

void Evaluator::checkDeclared(symbol::Symbol symbol, const std::shared_ptr<TypeValue> &type,
                              std::string name, SourceRange place) {
  Diagnostic diagnostic;
  diagnostic.place = std::move(place);
  diagnostic.code = ErrorCode::E0208;
  bool agree = !symbol.dtype() || symbol.dtype() == type->dtype;
  symbol::Shape shape = symbol.shape();
  if (agree && type->hasDims && shape.ranked) {
    diagnostic.code = ErrorCode::E0207;
    using Kind = TypeValue::Extent::Kind;
    const auto &extents = type->extents;
    size_t ellipsis = std::find_if(extents.begin(), extents.end(),
                                   [](const auto &e) { return e.kind == Kind::Ellipsis; }) -
                      extents.begin();
    bool open = ellipsis < extents.size();
    agree = open ? shape.dims.size() + 1 >= extents.size() : shape.dims.size() == extents.size();
    for (size_t i = 0; agree && i < extents.size(); ++i) {
      if (extents[i].kind != Kind::Known)
        continue;
      size_t at = i < ellipsis ? i : i + shape.dims.size() - extents.size();
      agree =
          shape.dims[at].extent == symbol::kUnknown || shape.dims[at].extent == extents[i].extent;
    }
  }
  if (agree)
    return;
  diagnostic.message =
      fmt::format("\"{}\" is declared {} and is {}", name, typeText(*type), tensorText(symbol));
  diagnostic.reasons.push_back(
      {fmt::format("declared at {}", type->module->file->placeText(type->span.begin)),
       type->module->file->range(type->span)});
  problems_.add(std::move(diagnostic));
}

} // namespace lstmc::lnet
