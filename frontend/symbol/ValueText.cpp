#include "frontend/symbol/ValueText.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <span>

#include <fmt/format.h>

#include "frontend/symbol/Initialisers.h"
#include "ir/sym/InitialRule.h"
#include "ir/sym/Pattern.h"

namespace lstmc::symbol {

bool isDecidedByName(std::string_view parameter) {
  return !sym::ruleOfName(llvm::StringRef(parameter)).empty();
}

std::optional<std::string> patternProblem(std::string_view pattern) {
  return sym::Pattern::problemOf(pattern);
}

void appendEscaped(std::string &text, char c) {
  if (c == '"' || c == '\\')
    text += '\\';
  if (c == '\n' || c == '\t')
    text += c == '\n' ? "\\n" : "\\t";
  else
    text += c;
}

std::string stringText(std::string_view text) {
  std::string result = "\"";
  for (char c : text)
    appendEscaped(result, c);
  return result + "\"";
}

std::string floatText(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char digits[64];
  auto [end, failure] =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::scientific);
  std::string_view text(digits, end - digits);
  size_t mark = text.find('e');
  int exponent = std::atoi(std::string(text.substr(mark + 1)).c_str());
  if (exponent < -4 || exponent >= 16)
    return fmt::format("{}e{}{:02}", text.substr(0, mark), exponent < 0 ? '-' : '+',
                       std::abs(exponent));
  auto [last, unused] =
      std::to_chars(digits, digits + sizeof digits, value, std::chars_format::fixed);
  std::string fixed(digits, last);
  return fixed.find('.') == fixed.npos ? fixed + ".0" : fixed;
}

std::string valueText(const AttributeValue &value) {
  if (auto flag = std::get_if<bool>(&value))
    return *flag ? "True" : "False";
  if (auto number = std::get_if<int64_t>(&value))
    return std::to_string(*number);
  if (auto number = std::get_if<double>(&value))
    return floatText(*number);
  if (auto text = std::get_if<std::string>(&value))
    return stringText(*text);
  if (auto tuple = std::get_if<Tuple>(&value)) {
    std::string text = "(";
    for (size_t i = 0; i < tuple->size(); ++i)
      text += (i ? ", " : "") + ((*tuple)[i] ? std::to_string(*(*tuple)[i]) : "None");
    return text + (tuple->size() == 1 ? ",)" : ")");
  }
  if (auto numbers = std::get_if<std::vector<double>>(&value)) {
    std::string text = "[";
    for (double number : *numbers)
      text += (text.size() > 1 ? ", " : "") + floatText(number);
    return text + "]";
  }
  return "None";
}

static std::string_view shownName(std::string_view name) {
  for (const InitialiserRow &row : kInitialisers)
    if (row.name == name)
      return row.shown;
  return name == "mixed" ? "Mixed" : name;
}

/// Nested lists, one level per axis of the shape; removes the printed numbers from `numbers`.
static std::string nestedText(std::span<const std::optional<int64_t>> shape,
                              std::span<const double> &numbers) {
  if (shape.empty()) {
    std::string text = floatText(numbers.front());
    numbers = numbers.subspan(1);
    return text;
  }
  std::string text = "[";
  for (int64_t i = 0; i < *shape.front(); ++i)
    text += (i ? ", " : "") + nestedText(shape.subspan(1), numbers);
  return text + "]";
}

std::string initialiserText(const Initialiser &init) {
  if (init.name == "values") {
    std::span<const double> numbers = std::get<std::vector<double>>(init.arguments[1].value);
    return nestedText(std::get<Tuple>(init.arguments[0].value), numbers);
  }
  std::string arguments;
  auto add = [&](const std::string &argument) {
    arguments += (arguments.empty() ? "" : ", ") + argument;
  };
  for (const NamedAttribute &argument : init.arguments)
    add(argument.name + "=" + valueText(argument.value));
  if (init.name == "mixed") {
    std::string patterns, initialisers;
    for (const std::string &pattern : init.patterns)
      patterns += (patterns.empty() ? "" : ", ") + stringText(pattern);
    for (const Initialiser &inner : init.initialisers)
      initialisers += (initialisers.empty() ? "" : ", ") + initialiserText(inner);
    add("patterns=[" + patterns + "]");
    add("initializers=[" + initialisers + "]");
  } else if (!init.initialisers.empty()) {
    add("default_init=" + initialiserText(init.initialisers[0]));
  }
  return std::string(shownName(init.name)) + "(" + arguments + ")";
}

} // namespace lstmc::symbol
