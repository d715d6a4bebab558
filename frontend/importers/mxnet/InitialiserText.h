// `__init__` of a variable: how it gets its first value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "frontend/symbol/Symbol.h"

namespace lstmc::importers::mxnet {

/// `["xavier", {"magnitude": 2.34}]`, or the name alone: `zeros`. Names and arguments are those of
/// symbol/Initialisers.h. `fusedrnn` is its inner initialiser, for the whole vector; one that has
/// none leaves the name empty. nullopt for another name, argument or form.
std::optional<symbol::Initialiser> initialiserOf(std::string_view text);

/// The text of an initialiser for a parameter of that name: of several by patterns the one that
/// matches it, since MXNet cannot keep them in a variable. Empty for none.
std::string textOfInitialiser(const symbol::Initialiser &init, std::string_view name);

/// Whether it is that of a FusedRNNCell's vector, whose biases of forget gates get no values of
/// their own here.
bool isFusedRnn(std::string_view text);

} // namespace lstmc::importers::mxnet
