// Conversion of the op records of ir/sym to signatures for frontends.
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include "frontend/symbol/Impl.h"
#include "frontend/symbol/Symbol.h"
#include "ir/sym/OpTable.h"

namespace lstmc::symbol {

static OpAttribute::Kind kindOf(sym::AttributeKind kind) {
  switch (kind) {
  case sym::AttributeKind::Integer:
    return OpAttribute::Kind::Integer;
  case sym::AttributeKind::Float:
    return OpAttribute::Kind::Float;
  case sym::AttributeKind::Boolean:
    return OpAttribute::Kind::Boolean;
  case sym::AttributeKind::String:
    return OpAttribute::Kind::String;
  case sym::AttributeKind::Choice:
    return OpAttribute::Kind::Choice;
  case sym::AttributeKind::Tuple:
  case sym::AttributeKind::Entries:
    return OpAttribute::Kind::Tuple;
  case sym::AttributeKind::DType:
    return OpAttribute::Kind::DType;
  }
  return OpAttribute::Kind::String;
}

OpAttribute attributeOf(const sym::AttributeRecord &record) {
  return {std::string(record.name),
          kindOf(record.kind),
          record.required,
          record.nullable,
          {record.choices.begin(), record.choices.end()},
          std::string(record.defaultText),
          {}};
}

std::string wantedText(const OpAttribute &attribute) {
  switch (attribute.kind) {
  case OpAttribute::Kind::Integer:
    return "an integer";
  case OpAttribute::Kind::Float:
    return "a number";
  case OpAttribute::Kind::Boolean:
    return "a bool";
  case OpAttribute::Kind::String:
    return "a string";
  case OpAttribute::Kind::Choice:
    return "one of " + llvm::join(attribute.choices, ", ");
  case OpAttribute::Kind::Tuple:
    return "a tuple of integers";
  case OpAttribute::Kind::DType:
    return "a dtype";
  }
  return "";
}

static OpSignature signatureOf(const sym::OpRecord &record) {
  OpSignature signature;
  signature.name = record.mxnetName;
  signature.aliases.assign(record.aliases.begin(), record.aliases.end());
  signature.variadic = record.variadic();
  if (!signature.variadic)
    for (const sym::InputRecord &input : record.inputs)
      signature.inputs.push_back({std::string(input.name),
                                  input.optional || !input.conditionAttribute.empty(),
                                  input.parameter, input.label});
  for (const sym::AttributeRecord &attribute : record.attributes) {
    OpAttribute made = attributeOf(attribute);
    for (auto &[alias, name] : record.attributeAliases)
      if (name == attribute.name)
        made.aliases.emplace_back(alias);
    signature.attributes.push_back(std::move(made));
  }
  signature.summary = record.summary;
  signature.countAttribute = record.countAttribute;
  return signature;
}

const std::vector<OpSignature> &allOps() {
  static const std::vector<OpSignature> kOps = [] {
    std::vector<OpSignature> ops;
    for (const sym::OpRecord &record : sym::opRecords())
      if (!record.mxnetName.empty())
        ops.push_back(signatureOf(record));
    return ops;
  }();
  return kOps;
}

const OpSignature *findOp(std::string_view name) {
  static const llvm::StringMap<const OpSignature *> kIndex = [] {
    llvm::StringMap<const OpSignature *> index;
    for (const OpSignature &op : allOps()) {
      index[op.name] = &op;
      for (const std::string &alias : op.aliases)
        index[alias] = &op;
    }
    return index;
  }();
  return kIndex.lookup(name);
}

} // namespace lstmc::symbol
