#include <cmath>

#include "frontend/lnet/evaluation/Operators.h"

namespace lstmc::lnet {

namespace {

/// A conversion, from `%` to its letter.
struct Conversion {
  bool left = false, plus = false, space = false, zero = false, alternate = false;
  int width = 0, precision = -1;
  char kind = 0;
  const Value *value = nullptr; ///< of "%(name)d": the value of that key; null: the next argument
};

constexpr int kWidest = 10000;

std::string pad(const Conversion &how, const std::string &sign, const std::string &digits,
                bool number) {
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
  char kind = how.kind == 'F' ? 'f' : how.kind;
  std::string format = fmt::format("{{:{}.{{}}{}}}", how.alternate ? "#" : "", kind);
  return pad(how, sign, fmt::format(fmt::runtime(format), std::fabs(value), precision), true);
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

/// One `format % values`.
class Formatter {
public:
  Formatter(Run &run, const std::string &format, const Value &values, Span span)
      : run_(run), format_(format), values_(values), span_(span),
        given_(values.is(ValueKind::Tuple) ? values.items().size() : 1) {}

  /// The formatted text; nullopt after an error.
  std::optional<std::string> text() {
    while (at_ < format_.size()) {
      if (format_[at_] != '%') {
        text_ += format_[at_++];
        continue;
      }
      ++at_;
      std::optional<Conversion> how = readConversion();
      if (!how)
        return std::nullopt;
      if (how->kind == '%') {
        text_ += '%';
        continue;
      }
      if (!convert(*how))
        return std::nullopt;
      if (text_.size() > run_.limits().list)
        break; // rejected when it is converted to a value
    }
    if (!byName_ && used_ < given_ && !values_.is(ValueKind::Dict)) {
      refuse("the format takes {} value{}, got {}", used_, used_ == 1 ? "" : "s", given_);
      return std::nullopt;
    }
    return std::move(text_);
  }

private:
  /// E0317; always false.
  template <typename... Args> bool refuse(fmt::format_string<Args...> message, Args &&...args) {
    run_.error(ErrorCode::E0317, span_, "{}", fmt::format(message, std::forward<Args>(args)...));
    return false;
  }

  std::optional<Conversion> readConversion() {
    Conversion how;
    if (at_ < format_.size() && format_[at_] == '(' && !readName(how))
      return std::nullopt;
    readFlags(how);
    readNumber(how.width);
    if (at_ < format_.size() && format_[at_] == '.') {
      ++at_;
      readNumber(how.precision);
    }
    if (how.width > kWidest || how.precision > kWidest) {
      refuse("a width in a format is at most {}", kWidest);
      return std::nullopt;
    }
    if (at_ >= format_.size()) {
      refuse("a format ends after its \"%\"");
      return std::nullopt;
    }
    how.kind = format_[at_++];
    return how;
  }

  /// "%(name)": finds its value.
  bool readName(Conversion &how) {
    size_t close = format_.find(')', at_);
    if (close == format_.npos || !values_.is(ValueKind::Dict))
      return refuse("\"%(name)\" takes a dict");
    byName_ = true;
    std::string_view name = std::string_view(format_).substr(at_ + 1, close - at_ - 1);
    auto &entries = values_.as<DictObject>().entries;
    for (auto &[key, item] : entries)
      if (key.is(ValueKind::String) && key.string() == name)
        how.value = &item;
    if (!how.value) {
      run_.error(ErrorCode::E0305, span_, "key \"{}\" of a dict of {}", name, entries.size());
      return false;
    }
    at_ = close + 1;
    return true;
  }

  void readFlags(Conversion &how) {
    for (; at_ < format_.size(); ++at_) {
      switch (format_[at_]) {
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
        return;
      }
    }
  }

  void readNumber(int &target) {
    target = 0;
    for (; at_ < format_.size() && format_[at_] >= '0' && format_[at_] <= '9'; ++at_)
      target = std::min(kWidest + 1, target * 10 + (format_[at_] - '0'));
  }

  const Value *nextValue() {
    if (used_ >= given_)
      return nullptr;
    size_t index = used_++;
    return values_.is(ValueKind::Tuple) ? &values_.items()[index] : &values_;
  }

  bool convert(const Conversion &how) {
    const Value *value = how.value ? how.value : nextValue();
    if (!value)
      return refuse("the format takes more values than the {} given", given_);
    if (value->isUnknown())
      return false;
    switch (how.kind) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      return addInteger(how, *value);
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
      if (!value->isNumber())
        return refuse("\"%{}\" takes a number, got {}", how.kind, reprOf(*value));
      text_ += formatFloat(how, value->number());
      return true;
    case 's':
    case 'r':
      addText(how, *value);
      return true;
    default:
      return refuse("a format has no conversion \"%{}\"", how.kind);
    }
  }

  /// `%d`, `%i` and `%u` truncate a float, as Python does; `%x` and `%o` take integers only.
  bool addInteger(const Conversion &how, const Value &value) {
    bool decimal = how.kind == 'd' || how.kind == 'i' || how.kind == 'u';
    bool cut = decimal && value.is(ValueKind::Float) && std::fabs(value.number()) < 0x1p63;
    if (!cut && !value.is(ValueKind::Integer))
      return refuse("\"%{}\" takes an integer, got {}", how.kind, reprOf(value));
    text_ += formatInteger(how, cut ? int64_t(value.number()) : value.integer());
    return true;
  }

  void addText(const Conversion &how, const Value &value) {
    size_t most = run_.limits().list;
    std::string shown = how.kind == 's' ? textOf(value, most) : reprOf(value, most);
    if (how.precision >= 0)
      shown = characters(shown, how.precision);
    text_ += pad(how, "", shown, false);
  }

  Run &run_;
  const std::string &format_;
  const Value &values_;
  Span span_;
  size_t given_, used_ = 0;
  size_t at_ = 0; ///< in `format_`
  bool byName_ = false;
  std::string text_;
};

} // namespace

std::optional<std::string> formatString(Run &run, const std::string &format, const Value &values,
                                        Span span) {
  return Formatter(run, format, values, span).text();
}

} // namespace lstmc::lnet
