#include "frontend/lnet/net/TensorMethods.h"

#include <algorithm>

#include "executor/abi/Sizes.h"
#include "frontend/lnet/evaluation/Collections.h"
#include "frontend/lnet/net/OpCall.h"

namespace lstmc::lnet {

namespace {

struct Method {
  std::string_view name;
  std::string_view op = name;
  bool packs = false; ///< numbers by position are one tuple: x.reshape(2, -1)
};
constexpr Method kMethods[] = {
    {"reshape", "Reshape", true},
    {"transpose", "transpose", true},
    {"astype", "Cast"},
    {"flatten", "Flatten"},
    {"swapaxes", "SwapAxis"},
    {"split", "SliceChannel"},
    {"detach", "BlockGrad"},
    {"copy", "_copy"},
    {"tile", "tile", true},
    {"broadcast_to", "broadcast_to", true},
    {"expand_dims"},
    {"squeeze"},
    {"slice"},
    {"slice_axis"},
    {"slice_like"},
    {"reshape_like"},
    {"take"},
    {"pick"},
    {"one_hot"},
    {"repeat"},
    {"flip"},
    {"diag"},
    {"clip"},
    {"dot"},
    {"broadcast_like"},
    {"broadcast_axes", "broadcast_axis"},
    {"zeros_like"},
    {"ones_like"},
    {"sum"},
    {"mean"},
    {"prod"},
    {"max"},
    {"min"},
    {"norm"},
    {"argmax"},
    {"argmin"},
    {"cumsum"},
    {"sort"},
    {"argsort"},
    {"topk"},
    {"softmax"},
    {"log_softmax"},
    {"softmin"},
    {"relu"},
    {"sigmoid"},
    {"tanh"},
    {"exp"},
    {"expm1"},
    {"log"},
    {"log10"},
    {"log2"},
    {"log1p"},
    {"sqrt"},
    {"rsqrt"},
    {"cbrt"},
    {"rcbrt"},
    {"square"},
    {"reciprocal"},
    {"abs"},
    {"sign"},
    {"round"},
    {"rint"},
    {"fix"},
    {"floor"},
    {"ceil"},
    {"trunc"},
    {"sin"},
    {"cos"},
    {"tan"},
    {"arcsin"},
    {"arccos"},
    {"arctan"},
    {"sinh"},
    {"cosh"},
    {"arcsinh"},
    {"arccosh"},
    {"arctanh"},
    {"degrees"},
    {"radians"},
};
constexpr std::string_view kAttributes[] = {"shape", "dtype", "ndim", "size", "T"};

/// `x.reshape(2, -1)` as `x.reshape((2, -1))`.
void pack(Run &run, Arguments &arguments) {
  auto isNumber = [](const Value &value) { return value.is(ValueKind::Integer); };
  if (arguments.positional.size() < 2 || !std::ranges::all_of(arguments.positional, isNumber))
    return;
  std::vector<Value> items(arguments.positional.begin(), arguments.positional.end());
  arguments.positional = {
      makeSequence(run, ValueKind::Tuple, std::move(items), arguments.places[0]->span)};
  arguments.places.resize(1);
}

} // namespace

Value TensorMethods::call(const Value &tensor, const AttributeExpr *callee, Arguments &arguments) {
  auto method = std::ranges::find(kMethods, callee->name, &Method::name);
  if (method == std::end(kMethods))
    return refuse(callee, "method");
  if (method->packs)
    pack(run_, arguments);
  arguments.positional.insert(arguments.positional.begin(), tensor);
  arguments.places.insert(arguments.places.begin(), callee->base);
  const symbol::OpSignature *op = symbol::findOp(method->op);
  if (!op)
    return run_.error(ErrorCode::E0215, callee->nameSpan, "{} is not built yet", callee->name);
  if (!run_.mayDraw(callee->name, callee->nameSpan))
    return Value::unknown();
  return OpCall(run_, nodes_, dims_, *op, arguments, callee->name).make();
}

Value TensorMethods::attribute(const Value &tensor, const AttributeExpr *expr) {
  const symbol::Symbol &symbol = tensor.as<TensorObject>().symbol;
  if (expr->name == "T")
    return nodes_.applyOne("transpose", {tensor}, {}, expr->nameSpan, {expr->base});
  if (expr->name == "dtype") {
    if (std::optional<DType> dtype = symbol.dtype())
      return makeString(run_, std::string(dtypeLongName(*dtype)), expr->nameSpan);
    return run_.error(ErrorCode::E0211, expr->nameSpan,
                      "the dtype of \"{}\" follows from nothing yet", symbol.name());
  }
  if (std::ranges::find(kAttributes, expr->name) == std::end(kAttributes))
    return refuse(expr, "attribute");
  if (expr->name == "ndim" && symbol.shape().ranked)
    return Value::integer(int64_t(symbol.shape().dims.size()));
  std::optional<std::vector<Value>> all = extents(symbol, expr->nameSpan);
  if (!all)
    return Value::unknown();
  if (expr->name == "shape")
    return makeSequence(run_, ValueKind::Tuple, std::move(*all), expr->span);
  int64_t elements = 1;
  for (const Value &extent : *all)
    elements = product({elements, extent.integer()});
  return Value::integer(elements);
}

Value TensorMethods::length(const Value &tensor, const Expr *place) {
  std::optional<std::vector<Value>> all = extents(tensor.as<TensorObject>().symbol, place->span);
  if (!all)
    return Value::unknown();
  if (all->empty())
    return run_.error(ErrorCode::E0317, place->span, "a tensor without axes has no length");
  return all->front();
}

std::optional<std::vector<Value>> TensorMethods::extents(const symbol::Symbol &symbol, Span span) {
  symbol::Shape shape = symbol.shape();
  if (!shape.ranked) {
    run_.error(ErrorCode::E0211, span, "the shape of \"{}\" follows from nothing yet",
               symbol.name());
    return std::nullopt;
  }
  std::vector<Value> extents;
  for (size_t i = 0; i < shape.dims.size(); ++i) {
    const symbol::Dim &dim = shape.dims[i];
    if (dim.extent == symbol::kUnknown) {
      run_.error(ErrorCode::E0211, span, "axis {} of \"{}\" follows from nothing yet", i,
                 symbol.name());
      return std::nullopt;
    }
    extents.push_back(Value::integer(dim.extent, dims_.number(dim.name)));
  }
  return extents;
}

Value TensorMethods::refuse(const AttributeExpr *expr, std::string_view what) {
  std::vector<std::string_view> known(std::begin(kAttributes), std::end(kAttributes));
  for (const Method &method : kMethods)
    known.push_back(method.name);
  return run_.unknownName(ErrorCode::E0317, expr->nameSpan,
                          fmt::format("a tensor has no {} \"{}\"", what, expr->name),
                          NameKind::Method, expr->name, known);
}

} // namespace lstmc::lnet
