// Lists, tuples, strings and dicts: making them within the limits, and their elements.
#pragma once

#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

/// A list or tuple. A list remembers the run of the function that made it: no other may change it.
Value makeSequence(Run &run, ValueKind kind, std::vector<Value> items, Span span);
Value makeString(Run &run, std::string text, Span span);
/// A later entry replaces an earlier one of the same key. E0317 for a value that cannot be a key.
Value makeDict(Run &run, std::vector<std::pair<Value, Value>> entries, Span span);

/// The entry of a key; null if there is none. `hash` is that of the key.
std::pair<Value, Value> *findEntry(DictObject &dict, const Value &key, size_t hash);
/// The hash of a key, or E0317.
std::optional<size_t> keyHash(Run &run, const Value &key, Span span);

/// The elements of a list, tuple, range, dict (its keys) or string (its characters); nullopt after
/// an error.
std::optional<std::vector<Value>> elements(Run &run, const Value &value, const Expr *source);

/// Help text for iterating over a value that is not iterable; empty for most kinds.
std::string elementsHelp(const Value &value);

/// The end of the UTF-8 character that begins at byte `begin`.
size_t characterEnd(const std::string &text, size_t begin);

/// "lstm0_output, lstm0_state": what a message calls the outputs of a call; empty unless all are
/// tensors.
std::string outputNames(const std::vector<Value> &values);

/// Help text that names the outputs of a call and how they are taken apart; `maker` is the call as
/// a message shows it. Empty unless all are tensors.
std::string unpackingHelp(const std::vector<Value> &values, std::string_view maker);

} // namespace lstmc::lnet
