// `"%d" % i`: Python's formatting with %.
#include <cmath>

#include "frontend/lnet/Evaluator.h"

namespace lstmc::lnet {

namespace {

struct Conversion {
  bool left = false, plus = false, space = false, zero = false, alternate = false;
  int width = 0, precision = -1;
  char kind = 0;
};

constexpr int kWidest = 10000;

std::string pad(const Conversion &how, std::string sign, std::string digits, bool number) {
  size_t cells = 0;
  for (char c : sign + digits)
    cells += (c & 0xC0) != 0x80;
  size_t fill = size_t(how.width) > cells ? size_t(how.width) - cells : 0;
  if (how.left)
    return sign + digits + std::string(fill, ' ');
  if (how.zero && number)
    return sign + std::string(fill, '0') + digits;
  return std::string(fill, ' ') + sign + digits;
}

std::string formatInteger(const Conversion &how, int64_t value) {
  uint64_t size = value < 0 ? 0 - uint64_t(value) : uint64_t(value);
  std::string sign = value < 0 ? "-" : how.plus ? "+" : how.space ? " " : "";
  std::string digits;
  switch (how.kind) {
  case 'x':
    digits = fmt::format("{:x}", size);
    break;
  case 'X':
    digits = fmt::format("{:X}", size);
    break;
  case 'o':
    digits = fmt::format("{:o}", size);
    break;
  default:
    digits = fmt::format("{}", size);
  }
  if (how.precision > int(digits.size()))
    digits.insert(0, how.precision - digits.size(), '0');
  if (how.alternate && (how.kind == 'x' || how.kind == 'X' || how.kind == 'o'))
    sign += how.kind == 'x' ? "0x" : how.kind == 'X' ? "0X" : "0o";
  return pad(how, sign, digits, true);
}

std::string formatFloat(const Conversion &how, double value) {
  std::string sign = std::signbit(value) ? "-" : how.plus ? "+" : how.space ? " " : "";
  int precision = how.precision < 0 ? 6 : how.precision;
  double size = std::fabs(value);
  std::string digits;
  switch (how.kind) {
  case 'e':
    digits = how.alternate ? fmt::format("{:#.{}e}", size, precision)
                           : fmt::format("{:.{}e}", size, precision);
    break;
  case 'E':
    digits = how.alternate ? fmt::format("{:#.{}E}", size, precision)
                           : fmt::format("{:.{}E}", size, precision);
    break;
  case 'g':
    digits = how.alternate ? fmt::format("{:#.{}g}", size, precision)
                           : fmt::format("{:.{}g}", size, precision);
    break;
  case 'G':
    digits = how.alternate ? fmt::format("{:#.{}G}", size, precision)
                           : fmt::format("{:.{}G}", size, precision);
    break;
  default:
    digits = how.alternate ? fmt::format("{:#.{}f}", size, precision)
                           : fmt::format("{:.{}f}", size, precision);
    break;
  }
  return pad(how, sign, digits, true);
}

/// The first `count` characters.
std::string characters(const std::string &text, int count) {
  size_t at = 0;
  while (at < text.size() && count >= 0) {
    if ((text[at] & 0xC0) != 0x80 && count-- == 0)
      break;
    ++at;
  }
  return text.substr(0, at);
}

} // namespace

std::optional<std::string> Evaluator::formatString(const std::string &format, const Value &values,
                                                   Span span) {
  auto refuse = [&](std::string message) -> std::optional<std::string> {
    error(ErrorCode::E0317, span, "{}", message);
    return std::nullopt;
  };
  std::string text;
  bool tuple = values.is(ValueKind::Tuple);
  size_t used = 0, given = tuple ? values.items().size() : 1;
  bool byName = false;
  auto next = [&]() -> const Value * {
    if (used >= given)
      return nullptr;
    return tuple ? &values.items()[used++] : (++used, &values);
  };
  for (size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%') {
      text += format[i];
      continue;
    }
    Conversion how;
    const Value *value = nullptr;
    ++i;
    if (i < format.size() && format[i] == '(') {
      size_t close = format.find(')', i);
      if (close == format.npos || !values.is(ValueKind::Dict))
        return refuse("\"%(name)\" takes a dict");
      byName = true;
      for (auto &[key, item] : values.as<DictObject>().entries)
        if (key.is(ValueKind::String) &&
            key.string() == std::string_view(format).substr(i + 1, close - i - 1))
          value = &item;
      if (!value) {
        error(ErrorCode::E0305, span, "key \"{}\" of a dict of {}",
              format.substr(i + 1, close - i - 1), values.as<DictObject>().entries.size());
        return std::nullopt;
      }
      i = close + 1;
    }
    for (bool flag = true; flag && i < format.size();) {
      switch (format[i]) {
      case '-':
        how.left = true;
        break;
      case '+':
        how.plus = true;
        break;
      case ' ':
        how.space = true;
        break;
      case '0':
        how.zero = true;
        break;
      case '#':
        how.alternate = true;
        break;
      default:
        flag = false;
      }
      i += flag;
    }
    auto number = [&](int &target) {
      target = 0;
      for (; i < format.size() && format[i] >= '0' && format[i] <= '9'; ++i)
        target = std::min(kWidest + 1, target * 10 + (format[i] - '0'));
    };
    number(how.width);
    if (i < format.size() && format[i] == '.') {
      ++i;
      number(how.precision);
    }
    if (how.width > kWidest || how.precision > kWidest)
      return refuse(fmt::format("a width in a format is at most {}", kWidest));
    if (i >= format.size())
      return refuse("a format ends after its \"%\"");
    how.kind = format[i];
    if (how.kind == '%') {
      text += '%';
      continue;
    }
    if (!value && !(value = next()))
      return refuse(fmt::format("the format takes more values than the {} given", given));
    if (value->isUnknown())
      return std::nullopt;
    switch (how.kind) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      if (value->is(ValueKind::Float) && (how.kind == 'd' || how.kind == 'i' || how.kind == 'u') &&
          std::fabs(value->number()) < 0x1p63) {
        text += formatInteger(how, int64_t(value->number()));
        break;
      }
      if (!value->is(ValueKind::Integer))
        return refuse(fmt::format("\"%{}\" takes an integer, got {}", how.kind, reprOf(*value)));
      text += formatInteger(how, value->integer());
      break;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
      if (!value->isNumber())
        return refuse(fmt::format("\"%{}\" takes a number, got {}", how.kind, reprOf(*value)));
      text += formatFloat(how, value->number());
      break;
    case 's':
    case 'r': {
      std::string shown = how.kind == 's' ? textOf(*value, options_.limits.list)
                                          : reprOf(*value, options_.limits.list);
      if (how.precision >= 0)
        shown = characters(shown, how.precision);
      text += pad(how, "", shown, false);
      break;
    }
    default:
      return refuse(fmt::format("a format has no conversion \"%{}\"", std::string(1, how.kind)));
    }
    if (text.size() > options_.limits.list)
      break;
  }
  if (!byName && used < given && !values.is(ValueKind::Dict))
    return refuse(
        fmt::format("the format takes {} value{}, got {}", used, used == 1 ? "" : "s", given));
  return text;
}

} // namespace lstmc::lnet
