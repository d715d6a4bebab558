#include "frontend/driver/SettingText.h"

#include <charconv>
#include <cmath>

#include "frontend/symbol/ValueText.h"

namespace lstmc::driver {

std::string settingText(const symbol::AttributeValue &value) {
  struct Writer {
    std::string operator()(std::monostate) const { return "None"; }
    std::string operator()(bool v) const { return v ? "True" : "False"; }
    std::string operator()(int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const { return fmt::format("{}", v); }
    std::string operator()(const std::string &v) const { return v; }
    std::string operator()(const symbol::Tuple &v) const {
      std::string text;
      for (const std::optional<int64_t> &entry : v)
        text += fmt::format("{}{}", text.empty() ? "" : ",",
                            entry ? fmt::format("{}", *entry) : "None");
      return text;
    }
    std::string operator()(const std::vector<double> &v) const {
      return fmt::format("{}", fmt::join(v, ","));
    }
  };
  return std::visit(Writer{}, value);
}

/// "step=[1900,2300], factor=0.25"
static std::string argumentTexts(const std::vector<symbol::NamedAttribute> &arguments) {
  std::string text;
  for (const symbol::NamedAttribute &argument : arguments) {
    bool list = std::holds_alternative<symbol::Tuple>(argument.value) ||
                std::holds_alternative<std::vector<double>>(argument.value);
    text += fmt::format("{}{}={}{}{}", text.empty() ? "" : ", ", argument.name, list ? "[" : "",
                        settingText(argument.value), list ? "]" : "");
  }
  return text;
}

std::vector<package::Setting> settingTexts(const std::vector<symbol::Setting> &settings) {
  std::vector<package::Setting> texts;
  for (const symbol::Setting &setting : settings) {
    std::string text = setting.initialiser ? symbol::initialiserText(*setting.initialiser)
                                           : settingText(setting.value);
    if (!setting.arguments.empty()) // a schedule
      text += fmt::format("({})", argumentTexts(setting.arguments));
    texts.push_back({setting.key, text});
  }
  return texts;
}

Result<double> parseNumber(std::string_view key, std::string_view text) {
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
    return fail(ErrorCode::E0001, "{} takes a number, got \"{}\"", key, text);
  return number;
}

} // namespace lstmc::driver
