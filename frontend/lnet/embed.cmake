# cmake -DTEXT=layers.lnet -DHEADER=LayersText.h -P embed.cmake: a text as a constant of C++. Cut into pieces, for
# compilers bound the length of one literal.
file(READ "${TEXT}" text)
string(REPLACE "\n" "\n)lnet\"\nR\"lnet(" pieces "${text}")
file(WRITE "${HEADER}" "// Made from ${TEXT} by embed.cmake.
#pragma once

#include <string_view>

namespace lstmc::lnet {
inline constexpr std::string_view kLayersText = R\"lnet(${pieces})lnet\";
} // namespace lstmc::lnet
")
