// Python's operators on build-time values; a bool is no number, integers have 64 bits, floats are
// finite.
#pragma once

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

/// Two known values, neither of them a tensor.
Value arithmetic(Run &run, TokenKind op, const Value &left, const Value &right, Span opSpan,
                 Span span);
/// `-x`, `+x` of anything but a tensor.
Value signedValue(Run &run, TokenKind op, const Value &operand, Span span);

/// What `if` makes of a value; nothing if it is unknown, or a tensor (E0301).
std::optional<bool> truth(Run &run, const Value &value, Span span);

/// `==`, `<` and their like on known values that are not both tensors or numbers beside tensors.
Value comparison(Run &run, CompareOp op, const Value &left, const Value &right, Span opSpan);
/// -1, 0 or 1 as a stands to b; nothing after an error. `op` is what messages call it.
std::optional<int> order(Run &run, const Value &a, const Value &b, std::string_view op, Span span);
/// `item in container`; nothing after an error.
std::optional<bool> contains(Run &run, const Value &container, const Value &item, Span span);

/// `format % values`; nothing after an error.
std::optional<std::string> formatString(Run &run, const std::string &format, const Value &values,
                                        Span span);

} // namespace lstmc::lnet
