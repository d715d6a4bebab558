// Numbers as text.
#ifndef LSTMC_NUMBER_TEXT_HPP
#define LSTMC_NUMBER_TEXT_HPP

#include <lstmc/error.hpp>

#include <charconv>
#include <string>

namespace lstmc {
inline namespace LSTMC_ABI {
namespace detail {

/// The shortest text that is read back as the same number.
inline std::string number_text(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return std::string(text, end);
}

} // namespace detail
} // namespace LSTMC_ABI
} // namespace lstmc

#endif
