// Methods of values: append and extend of a list; keys, values, items and get of a dict.
#include "frontend/lnet/evaluation/Calls.h"
#include "frontend/lnet/evaluation/Collections.h"

namespace lstmc::lnet {

namespace {

/// One call of a method.
class MethodCall {
public:
  MethodCall(Run &run, const Value &base, const AttributeExpr *callee, Arguments &arguments,
             const CallExpr *expr)
      : run_(run), base_(base), callee_(callee), arguments_(arguments), expr_(expr) {}

  Value run() {
    std::string_view name = callee_->name;
    if (base_.is(ValueKind::List) && (name == "append" || name == "extend"))
      return grow(name == "append");
    if (base_.is(ValueKind::Dict) && name == "get")
      return get();
    if (base_.is(ValueKind::Dict) && (name == "keys" || name == "values" || name == "items"))
      return view();
    std::vector<std::string_view> known;
    if (base_.is(ValueKind::List))
      known = {"append", "extend"};
    if (base_.is(ValueKind::Dict))
      known = {"keys", "values", "items", "get"};
    return run_.unknownName(ErrorCode::E0317, callee_->nameSpan,
                            fmt::format("{} has no method \"{}\"", kindName(base_.kind()), name),
                            NameKind::Method, name, known);
  }

private:
  bool takeArguments(std::initializer_list<BuiltinParameter> parameters) {
    return bindBuiltin(run_, callee_->name, arguments_, parameters, values_, &places_);
  }

  /// append and extend; allowed only in the function that created the list (E0310).
  Value grow(bool append) {
    if (!takeArguments({{append ? "item" : "items", true}}))
      return Value::unknown();
    auto &list = base_.as<SequenceObject>();
    if (list.owner != run_.at.frame->run)
      return run_.error(ErrorCode::E0310, callee_->base->span, "{} belongs to {}", listName(),
                        list.maker ? list.maker->text : "the file");
    std::optional<std::vector<Value>> more = added(append);
    if (!more ||
        !run_.fits("list", "elements", list.items.size() + more->size(), callee_->nameSpan) ||
        !run_.stepMany(more->size(), callee_->nameSpan))
      return Value::unknown();
    for (Value &item : *more)
      list.items.push_back(std::move(item));
    return Value::none();
  }

  std::string listName() const {
    if (callee_->base->kind != ExprKind::Name)
      return "the list";
    return fmt::format("\"{}\"", static_cast<const NameExpr *>(callee_->base)->name);
  }

  std::optional<std::vector<Value>> added(bool append) {
    if (append)
      return std::vector<Value>{values_[0]};
    if (values_[0].isUnknown())
      return std::nullopt;
    return elements(run_, values_[0], places_[0]);
  }

  Value get() {
    if (!takeArguments({{"key", true}, {"default"}}) || values_[0].isUnknown())
      return Value::unknown();
    std::optional<size_t> hash = keyHash(run_, values_[0], places_[0]->span);
    if (!hash)
      return Value::unknown();
    if (auto *entry = findEntry(base_.as<DictObject>(), values_[0], *hash))
      return entry->second;
    return values_[1].is(ValueKind::Unset) ? Value::none() : values_[1];
  }

  /// keys, values and items, as lists.
  Value view() {
    bool keys = callee_->name == "keys", items = callee_->name == "items";
    if (!takeArguments({}))
      return Value::unknown();
    std::vector<Value> result;
    for (auto &[key, value] : base_.as<DictObject>().entries)
      result.push_back(keys    ? key
                       : items ? makeSequence(run_, ValueKind::Tuple, {key, value}, expr_->span)
                               : value);
    return makeSequence(run_, ValueKind::List, std::move(result), expr_->span);
  }

  Run &run_;
  const Value &base_;
  const AttributeExpr *callee_;
  Arguments &arguments_;
  const CallExpr *expr_;
  std::vector<Value> values_;
  std::vector<const Expr *> places_;
};

} // namespace

Value callMethodOf(Run &run, const Value &base, const AttributeExpr *callee, Arguments &arguments,
                   const CallExpr *expr) {
  return MethodCall(run, base, callee, arguments, expr).run();
}

} // namespace lstmc::lnet
