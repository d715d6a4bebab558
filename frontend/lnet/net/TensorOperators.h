// Operators and comparisons on tensors, as the ops that they stand for.
#pragma once

#include "frontend/lnet/evaluation/Arguments.h"
#include "frontend/lnet/net/Nodes.h"

namespace lstmc::lnet {

/// At least one operand is a tensor; both are known.
Value tensorBinary(Run &run, Nodes &nodes, TokenKind op, const Value &left, const Value &right,
                   Span opSpan, const Expr *leftPlace, const Expr *rightPlace);
/// Two tensors, or a tensor and a number.
Value tensorCompare(Run &run, Nodes &nodes, CompareOp op, const Value &left, const Value &right,
                    const CompareTerm &term, const Expr *leftPlace);

/// A call like `maximum(x, 0.5)` or `equal(x, 1)`: a function of two operands that takes a number
/// for one of them, or broadcasts two tensors. Nothing if this is no such call.
std::optional<Value> callOfTwo(Run &run, Nodes &nodes, const symbol::OpSignature &op,
                               const Arguments &arguments, std::string_view shown);

/// Replaces the numbers of `where(condition, x, 0.0)` by tensors like the other one.
void fillNumbersOfWhere(Nodes &nodes, const symbol::OpSignature &op, Arguments &arguments);

} // namespace lstmc::lnet
