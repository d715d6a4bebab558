// Attributes of symbol.json, which are text as Python's str() gave it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/symbol/Symbol.h"

namespace lstmc::importers::mxnet {

/// The text as a value of that kind; nullopt if it is none. "None" is no value (monostate) of every
/// kind. Taken are, with blanks around them:
///   Integer  "100", "-3", "+3"
///   Float    "0.5", "1e-05", and integers, which stay exact; finite ones only
///   Boolean  "True", "False" in any case, "1", "0"
///   Tuple    "(1, 2)", "[1,2]", "(1,)", "()", "2", "(1L, 2L)", "(0, None)"
///   String, Choice, DType: the text itself
std::optional<symbol::AttributeValue> attributeValue(std::string_view text,
                                                     symbol::OpAttribute::Kind kind);

/// The value as Python's str() gives it.
std::string attributeText(const symbol::AttributeValue &value);

std::optional<symbol::Tuple> tupleOf(std::string_view text);

/// An element type: MXNet's number of it ("0", "12"), or a name ("float32"). "-1" is monostate: not
/// said. nullopt for another text, and for a type that lstmc does not have.
std::optional<std::variant<std::monostate, DType>> typeOf(std::string_view text);

/// MXNet's number of an element type.
int32_t codeOf(DType dtype);

} // namespace lstmc::importers::mxnet
