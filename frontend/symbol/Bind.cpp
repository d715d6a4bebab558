#include "frontend/symbol/Bind.h"

#include <cmath>

#include "llvm/ADT/StringExtras.h"

#include "executor/base/Suggest.h"
#include "frontend/names/Suggestion.h"
#include "frontend/symbol/ValueText.h"

namespace lstmc::symbol {

using llvm::StringRef;
using mlir::Value;

namespace {

/// Text for the expected value of an attribute.
std::string wanted(const sym::AttributeRecord &record) {
  std::string text = wantedText(attributeOf(record));
  return record.kind == sym::AttributeKind::Entries ? text + " and None" : text;
}

class Binder {
public:
  Binder(Graph &graph, const Call &call) : graph_(graph), impl_(graph.impl()), call_(call) {}

  Checked<BoundCall> run() {
    bound_.record = sym::findOpRecord(call_.op);
    if (!bound_.record)
      return unknownOp();
    shown_ = std::string(bound_.record->mxnetName);
    bindAttributes();
    if (bound_.record->variadic())
      bindAnyNumber();
    else
      bindInputs();
    if (!errors_.empty())
      return std::move(errors_);
    return std::move(bound_);
  }

private:
  Origin placeOf(std::string_view argument) {
    if (call_.argumentPlace)
      if (std::optional<SourceRange> place = call_.argumentPlace(argument))
        return *place;
    return call_.origin;
  }
  void error(ErrorCode code, const Origin &place, std::string message, std::string help = {}) {
    errors_.push_back(makeError(code, place, std::move(message), std::move(help)));
  }

  Diagnostics unknownOp() {
    if (call_.op == "Custom") {
      std::string type = "?";
      for (const NamedAttribute &attribute : call_.attributes)
        if (attribute.name == "op_type")
          if (auto text = std::get_if<std::string>(&attribute.value))
            type = *text;
      return {makeError(ErrorCode::E0213, call_.origin,
                        "op type " + stringText(type) + " is Python code")};
    }
    std::vector<std::string_view> names;
    for (const OpSignature &op : allOps()) {
      names.push_back(op.name);
      names.insert(names.end(), op.aliases.begin(), op.aliases.end());
    }
    return {makeError(ErrorCode::E0201, call_.origin,
                      "no op or function is named " + stringText(call_.op),
                      suggestionOrList(NameKind::Function, call_.op, names))};
  }

  //===---- attributes ------------------------------------------------------------------------===//

  void bindAttributes() {
    for (const NamedAttribute &attribute : call_.attributes) {
      const sym::AttributeRecord *record = bound_.record->attribute(attribute.name);
      if (!record) {
        if (attribute.name != bound_.record->countAttribute)
          unknownAttribute(attribute.name);
        else if (attribute.value !=
                 AttributeValue(int64_t(call_.positional.size() + call_.named.size())))
          error(ErrorCode::E0204, placeOf(attribute.name),
                attribute.name + " is " + valueText(attribute.value) + ", the call has " +
                    std::to_string(call_.positional.size() + call_.named.size()) + " inputs");
        continue;
      }
      if (llvm::any_of(bound_.attributes,
                       [&](auto &known) { return known.getName() == StringRef(record->name); })) {
        error(ErrorCode::E0202, placeOf(attribute.name),
              shown_ + " gets " + std::string(record->name) + " twice");
        continue;
      }
      if (std::holds_alternative<std::monostate>(attribute.value) && record->nullable)
        continue;
      if (roundsInteger(*record, attribute.value))
        error(ErrorCode::E0204, placeOf(attribute.name),
              std::string(record->name) + " is a number that a double holds, got " +
                  valueText(attribute.value),
              "operators such as x + N take it as it is");
      else if (isBeyondData(*record, attribute.value))
        error(ErrorCode::E0204, placeOf(attribute.name),
              std::string(record->name) + " is a number that " +
                  std::string(dtypeLongName(*dtypeOfData())) + " holds, got " +
                  valueText(attribute.value));
      else if (mlir::Attribute value = convert(*record, attribute.value))
        bound_.attributes.push_back(impl_.builder.getNamedAttr(record->name, value));
      else
        wrongKind(*record, attribute);
    }
    for (const sym::AttributeRecord &record : bound_.record->attributes)
      if (record.required && !attributeValue(record.name) && !named(record.name))
        error(ErrorCode::E0203, call_.origin, shown_ + " needs " + std::string(record.name));
  }

  bool named(std::string_view name) {
    return llvm::any_of(call_.attributes, [&](const NamedAttribute &given) {
      const sym::AttributeRecord *record = bound_.record->attribute(given.name);
      return record && record->name == name;
    });
  }

  mlir::Attribute attributeValue(std::string_view name) {
    for (mlir::NamedAttribute attribute : bound_.attributes)
      if (attribute.getName() == StringRef(name))
        return attribute.getValue();
    return {};
  }

  void unknownAttribute(const std::string &name) {
    std::vector<std::string_view> names;
    for (const sym::AttributeRecord &record : bound_.record->attributes)
      names.push_back(record.name);
    for (const sym::InputRecord &input : bound_.record->inputs)
      names.push_back(input.name);
    names.push_back("name");
    error(ErrorCode::E0202, placeOf(name), shown_ + " has no attribute " + stringText(name),
          suggestionOrList(NameKind::Attribute, name, names));
  }

  void wrongKind(const sym::AttributeRecord &record, const NamedAttribute &attribute) {
    std::string help;
    if (auto text = std::get_if<std::string>(&attribute.value))
      help = didYouMean(*text, record.choices);
    error(ErrorCode::E0204, placeOf(attribute.name),
          std::string(record.name) + " is " + wanted(record) + ", got " +
              valueText(attribute.value),
          help);
  }

  /// Whether converting the attribute would change an integer, in an op that may compute with
  /// integers.
  bool roundsInteger(const sym::AttributeRecord &record, const AttributeValue &value) {
    auto integer = std::get_if<int64_t>(&value);
    if (!integer || record.kind != sym::AttributeKind::Float)
      return false;
    const auto number = double(*integer);
    if (number < 0x1p63 && int64_t(number) == *integer)
      return false;
    std::optional<DType> dtype = dtypeOfData();
    return !dtype || !isFloat(*dtype);
  }

  /// Whether the scalar operand is outside of the range of the tensor's integer type.
  bool isBeyondData(const sym::AttributeRecord &record, const AttributeValue &value) {
    std::optional<DType> dtype = dtypeOfData();
    if (record.name != "scalar" || !dtype || isFloat(*dtype) || *dtype == DType::Bool)
      return false;
    auto integer = std::get_if<int64_t>(&value);
    auto given = std::get_if<double>(&value);
    if (!integer && !given)
      return false;
    const double number = std::trunc(integer ? double(*integer) : *given);
    if (number == -1 && bound_.record->mxnetName == "_mul_scalar")
      return false; // a minus sign, which wraps
    const int bits = int(8 * dtypeBytes(*dtype)) - (*dtype == DType::U8 ? 0 : 1);
    const double end = std::ldexp(1.0, bits);
    return !(number >= (*dtype == DType::U8 ? 0 : -end) && number < end);
  }

  /// The element type of the first input, or else of attribute `dtype`, which is float32 by
  /// default.
  std::optional<DType> dtypeOfData() {
    if (!call_.positional.empty())
      return call_.positional.front().dtype();
    if (!call_.named.empty())
      return call_.named.front().second.dtype();
    for (const NamedAttribute &given : call_.attributes)
      if (auto text = std::get_if<std::string>(&given.value); text && given.name == "dtype")
        return parseDType(*text);
    return DType::F32;
  }

  /// Null for a value of another kind.
  mlir::Attribute convert(const sym::AttributeRecord &record, const AttributeValue &value) {
    using Kind = sym::AttributeKind;
    mlir::OpBuilder &builder = impl_.builder;
    auto integer = std::get_if<int64_t>(&value);
    switch (record.kind) {
    case Kind::Integer:
      return integer ? builder.getI64IntegerAttr(*integer) : mlir::Attribute();
    case Kind::Float: {
      auto number = std::get_if<double>(&value);
      if (!integer && !number)
        return {};
      return builder.getF64FloatAttr(number ? *number : double(*integer));
    }
    case Kind::Boolean:
      if (auto flag = std::get_if<bool>(&value))
        return builder.getBoolAttr(*flag);
      return integer && (*integer == 0 || *integer == 1) ? builder.getBoolAttr(*integer)
                                                         : mlir::Attribute();
    case Kind::String:
      if (auto text = std::get_if<std::string>(&value))
        return builder.getStringAttr(*text);
      return {};
    case Kind::Choice:
      if (auto text = std::get_if<std::string>(&value);
          text && llvm::is_contained(record.choices, *text))
        return builder.getStringAttr(*text);
      return {};
    case Kind::DType:
      if (auto text = std::get_if<std::string>(&value))
        if (std::optional<DType> dtype = parseDType(*text))
          return builder.getStringAttr(StringRef(dtypeLongName(*dtype)));
      return {};
    case Kind::Tuple:
    case Kind::Entries: {
      Tuple tuple;
      if (integer)
        tuple.push_back(*integer);
      else if (auto given = std::get_if<Tuple>(&value))
        tuple = *given;
      else
        return {};
      if (record.kind == Kind::Entries)
        return impl_.attributeOf(tuple);
      llvm::SmallVector<int64_t> entries;
      for (std::optional<int64_t> entry : tuple) {
        if (!entry)
          return {};
        entries.push_back(*entry);
      }
      return builder.getDenseI64ArrayAttr(entries);
    }
    }
    return {};
  }

  //===---- inputs ----------------------------------------------------------------------------===//

  Value valueOf(const Symbol &symbol, std::string_view argument) {
    if (symbol.graph() != &graph_) {
      error(ErrorCode::E0204, placeOf(argument), std::string(argument) + " belongs to another net");
      return {};
    }
    return Graph::Impl::valueOf(symbol);
  }

  void bindAnyNumber() {
    for (auto [i, symbol] : llvm::enumerate(call_.positional))
      addOneMore(symbol, "arg" + std::to_string(i));
    for (auto &[name, symbol] : call_.named) {
      if (name != "arg" + std::to_string(bound_.inputs.size()))
        return unknownInput(name);
      addOneMore(symbol, name);
    }
  }
  void addOneMore(const Symbol &symbol, const std::string &name) {
    if (!symbol)
      return error(ErrorCode::E0203, call_.origin, shown_ + " needs " + name);
    bound_.inputs.push_back({nullptr, valueOf(symbol, name)});
  }

  void bindInputs() {
    const std::vector<sym::InputRecord> &records = bound_.record->inputs;
    for (const sym::InputRecord &record : records)
      bound_.inputs.push_back({&record, {}});
    if (call_.positional.size() > records.size())
      return error(ErrorCode::E0205, call_.origin,
                   shown_ + " takes " + std::to_string(records.size()) +
                       (records.size() == 1 ? " input" : " inputs") + ", got " +
                       std::to_string(call_.positional.size()));
    llvm::SmallVector<BoundInput *> places;
    for (BoundInput &input : bound_.inputs)
      if (exists(*input.record))
        places.push_back(&input);
    for (auto [i, symbol] : llvm::enumerate(call_.positional)) {
      // More than there are: those that the attributes exclude are refused by name.
      BoundInput &input = call_.positional.size() <= places.size() ? *places[i] : bound_.inputs[i];
      if (symbol)
        input.value = valueOf(symbol, input.record->name);
    }
    for (auto &[name, symbol] : call_.named) {
      auto at = llvm::find_if(bound_.inputs,
                              [&](const BoundInput &input) { return input.record->name == name; });
      if (at == bound_.inputs.end()) {
        unknownInput(name);
        continue;
      }
      if (at->value)
        error(ErrorCode::E0202, placeOf(name), shown_ + " gets " + name + " twice");
      else if (symbol)
        at->value = valueOf(symbol, name);
    }
    for (BoundInput &input : bound_.inputs)
      settle(input);
  }

  void unknownInput(const std::string &name) {
    std::vector<std::string_view> names;
    for (const sym::InputRecord &input : bound_.record->inputs)
      names.push_back(input.name);
    error(ErrorCode::E0202, placeOf(name), shown_ + " has no input " + stringText(name),
          suggestionOrList(NameKind::Attribute, name, names));
  }

  /// Text of an attribute's value as in the conditions of records.
  std::string conditionText(std::string_view name) {
    mlir::Attribute value = attributeValue(name);
    if (auto flag = llvm::dyn_cast_or_null<mlir::BoolAttr>(value))
      return flag.getValue() ? "true" : "false";
    if (auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(value))
      return text.str();
    return StringRef(bound_.record->attribute(name)->defaultText).lower();
  }

  /// Whether the attributes of the call let the op have this input.
  bool exists(const sym::InputRecord &record) {
    return record.conditionAttribute.empty() ||
           conditionText(record.conditionAttribute) == record.conditionValue;
  }

  /// Decides whether an omitted input is created, absent or an error, and rejects inputs that the
  /// attributes exclude.
  void settle(BoundInput &input) {
    const sym::InputRecord &record = *input.record;
    if (!exists(record)) {
      if (input.value)
        error(ErrorCode::E0202, placeOf(record.name),
              shown_ + " has no " + std::string(record.name) + " unless " +
                  std::string(record.conditionAttribute) + " is " + conditionWritten(record));
      return;
    }
    if (input.value || record.optional)
      return;
    input.make = record.parameter || record.label;
    if (!input.make)
      error(ErrorCode::E0203, call_.origin, shown_ + " needs " + std::string(record.name));
  }

  static std::string conditionWritten(const sym::InputRecord &record) {
    if (record.conditionValue == "true" || record.conditionValue == "false")
      return record.conditionValue == "true" ? "True" : "False";
    return stringText(record.conditionValue);
  }

  Graph &graph_;
  Graph::Impl &impl_;
  const Call &call_;
  std::string shown_;
  BoundCall bound_;
  Diagnostics errors_;
};

} // namespace

Checked<BoundCall> bind(Graph &graph, const Call &call) { return Binder(graph, call).run(); }

} // namespace lstmc::symbol
