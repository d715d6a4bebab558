#include "frontend/lnet/text/Lexer.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace lstmc::lnet {

namespace {

void appendUtf8(std::string &text, uint32_t code) {
  if (code < 0x80) {
    text += char(code);
  } else if (code < 0x800) {
    text += char(0xC0 | code >> 6);
    text += char(0x80 | (code & 0x3F));
  } else {
    text += char(0xE0 | code >> 12);
    text += char(0x80 | (code >> 6 & 0x3F));
    text += char(0x80 | (code & 0x3F));
  }
}

} // namespace

double floatValue(std::string_view token) {
  std::string digits;
  for (char c : token)
    if (c != '_')
      digits += c;
  double value = 0;
  auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure != std::errc::result_out_of_range)
    return value;
  // Too large or too small; from_chars does not distinguish these. The exponent of the first
  // significant digit does.
  size_t mark = std::min(digits.find_first_of("eE"), digits.size());
  std::string_view mantissa = std::string_view(digits).substr(0, mark);
  size_t point = std::min(mantissa.find('.'), mantissa.size());
  size_t first = mantissa.find_first_of("123456789");
  if (first == mantissa.npos)
    return 0;
  long long power = 0;
  if (mark < digits.size()) {
    const char *sign = &digits[mark + 1];
    const char *last = digits.data() + digits.size();
    if (std::from_chars(*sign == '+' ? sign + 1 : sign, last, power).ec != std::errc())
      power = *sign == '-' ? -(1ll << 40) : 1ll << 40;
  }
  power += first < point ? (long long)(point - first) : -(long long)(first - point);
  return power > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

std::string stringValue(std::string_view token) {
  size_t quotes = token.size() >= 6 && token[1] == token[0] && token[2] == token[0] ? 3 : 1;
  token = token.substr(quotes, token.size() - 2 * quotes);
  std::string value;
  value.reserve(token.size());
  for (size_t i = 0; i < token.size(); ++i) {
    char c = token[i];
    if (c == '\r') {
      continue; // of a CRLF: the lexer lets no other carriage return through
    } else if (c != '\\') {
      value += c;
      continue;
    }
    c = token[++i];
    if (c == 'n') {
      value += '\n';
    } else if (c == 't') {
      value += '\t';
    } else if (c == 'u') {
      uint32_t code = 0;
      std::from_chars(&token[i + 1], &token[i + 1] + 4, code, 16);
      appendUtf8(value, code);
      i += 4;
    } else if (c == '\r') {
      ++i;
    } else if (c != '\n') {
      value += c;
    }
  }
  return value;
}

} // namespace lstmc::lnet
