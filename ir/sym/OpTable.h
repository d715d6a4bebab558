// The op records as data: names, inputs and attributes as users write them. The rows are generated
// from the records.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "mlir/IR/OperationSupport.h"

namespace lstmc::sym {

enum class AttributeKind { Integer, Float, Boolean, String, Choice, Tuple, Entries, DType };

struct AttributeRecord {
  std::string_view name;
  AttributeKind kind;
  bool required;
  bool nullable; ///< None is allowed, and is the default
  std::vector<std::string_view> choices;
  std::string_view defaultText; ///< as MXNet's documents write it
};

struct InputRecord {
  std::string_view name;
  bool optional; ///< may be left out; the op then has no such operand
  bool parameter, label, variadic;
  /// The input exists only where this attribute has this value; empty: always.
  std::string_view conditionAttribute, conditionValue;
};

struct OpRecord {
  std::string_view opName;    ///< "sym.fully_connected"
  std::string_view mxnetName; ///< empty for ops that users make in other ways (Variable, begin
                              ///< states)
  std::vector<std::string_view> aliases;
  std::vector<InputRecord> inputs;
  std::vector<AttributeRecord> attributes;
  std::vector<std::pair<std::string_view, std::string_view>> attributeAliases; ///< {"axis", "dim"}
  std::vector<std::string_view> outputNames; ///< MXNet's, where it has any
  std::vector<std::string_view> results;
  int visibleOutputs; ///< -1: all
  std::string_view countAttribute;
  std::string_view summary;

  bool variadic() const { return inputs.size() == 1 && inputs.front().variadic; }
  const AttributeRecord *attribute(std::string_view name) const;
};

/// All records, in the order of the files.
const std::vector<OpRecord> &opRecords();
/// Finds an op by MXNet's name or an alias; null if there is none.
const OpRecord *findOpRecord(std::string_view name);
/// The record of an op of the dialect; null for internal ones.
const OpRecord *recordOf(mlir::OperationName name);
/// How many results of the op users see; -1: all.
int visibleResults(mlir::Operation *op, const OpRecord &record);

} // namespace lstmc::sym
