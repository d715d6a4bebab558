// What `lstmc help` prints on words of the language.
#pragma once

#include <string_view>

namespace lstmc::lnet {

struct Word {
  std::string_view name, form, meaning;
  std::string_view example; ///< a whole file
};

inline constexpr Word kWords[] = {
#define LSTMC_WORD(NAME, FORM, MEANING, EXAMPLE) {NAME, FORM, MEANING, EXAMPLE},
#include "frontend/lnet/Words.def"
};

} // namespace lstmc::lnet
