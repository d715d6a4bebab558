// One call of an op: matches its arguments with the op's inputs and attributes, then adds a node.
#pragma once

#include "frontend/lnet/evaluation/Arguments.h"
#include "frontend/lnet/net/Extents.h"
#include "frontend/lnet/net/Nodes.h"

namespace lstmc::lnet {

class OpCall {
public:
  /// `shown`: what messages call the op, as the user wrote it.
  OpCall(Run &run, Nodes &nodes, const DimNames &dims, const symbol::OpSignature &op,
         const Arguments &arguments, std::string_view shown);

  /// Unknown after an error (E0202 to E0205, or an error of the graph).
  Value make();

private:
  void fault(ErrorCode code, Span span, std::string message, std::string help = {});

  /// Takes argument `i`; false if the arguments after it make no sense.
  bool takeInOrder(size_t i);
  bool takeAttributeInOrder(size_t i);
  bool takeInputInOrder(size_t i);
  std::string remedyFor(const Value &value, const symbol::OpInput *input) const;

  void takeByName(const Arguments::Named &named);
  void takeName(const Arguments::Named &named);
  void takeInput(const symbol::OpInput &input, const Arguments::Named &named);
  void takeAttribute(const symbol::OpAttribute &record, const Value &value, const Expr *place);
  void refuseName(const Argument &argument);

  bool has(std::string_view name) const;
  void refuseMissing();
  /// Passes the inputs after an absent one by name.
  void nameInputsAfterAbsent();
  std::optional<SourceRange> placeOf(std::string_view argument) const;

  Run &run_;
  Nodes &nodes_;
  const DimNames &dims_;
  const symbol::OpSignature &op_;
  const Arguments &arguments_;
  std::string_view shown_;
  Span span_;

  symbol::Call call_;
  llvm::SmallVector<Value, 6> positional_;
  llvm::SmallVector<const Expr *, 6> places_;    ///< of the positional ones
  llvm::SmallVector<std::string_view, 8> given_; ///< inputs and attributes that have a value
  size_t attributesInOrder_ = 0;
  bool good_ = true, known_ = true, misnamed_ = false;
};

} // namespace lstmc::lnet
