// Python's operators on build-time values; a bool is no number, integers have 64 bits, floats are
// finite.
#pragma once

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

/// `left op right` of two known values that are not tensors.
Value arithmetic(Run &run, TokenKind op, const Value &left, const Value &right, Span opSpan,
                 Span span);
/// `-x`, `+x` of anything but a tensor.
Value signedValue(Run &run, TokenKind op, const Value &operand, Span span);

/// The truth value of a condition; nullopt if it is unknown, or a tensor (E0301).
std::optional<bool> truth(Run &run, const Value &value, Span span);

/// `==`, `<`, `in` and so on of two known values. Comparisons of tensors with tensors or numbers
/// are ops (Tensors.h).
Value comparison(Run &run, CompareOp op, const Value &left, const Value &right, Span opSpan);
/// -1, 0 or 1 for a < b, a == b, a > b; nullopt after an error. `op` is the operator to show in
/// messages.
std::optional<int> order(Run &run, const Value &a, const Value &b, std::string_view op, Span span);
/// `item in container`; nullopt after an error.
std::optional<bool> contains(Run &run, const Value &container, const Value &item, Span span);

/// `format % values`; nullopt after an error.
std::optional<std::string> formatString(Run &run, const std::string &format, const Value &values,
                                        Span span);

} // namespace lstmc::lnet
