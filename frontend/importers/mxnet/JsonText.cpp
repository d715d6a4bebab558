#include "frontend/importers/mxnet/JsonText.h"

#include <fmt/ranges.h>

namespace lstmc::importers::mxnet {

std::string jsonQuoted(std::string_view text) {
  std::string quoted = "\"";
  for (char c : text) {
    constexpr std::string_view kEscaped = "\\\"\r\n\t", kLetters = "\\\"rnt";
    const size_t at = kEscaped.find(c);
    if (at == kEscaped.npos)
      quoted += c;
    else
      (quoted += '\\') += kLetters[at];
  }
  return quoted + '"';
}

/// Lines end with a blank after the comma, as MXNet's do.
static std::string scope(const std::vector<std::string> &items, int depth, bool isLong, char begin,
                         char end) {
  if (!isLong)
    return fmt::format("{}{}{}", begin, fmt::join(items, ", "), end);
  const std::string line = "\n" + std::string(2 * size_t(depth), ' ');
  const std::string deeper = line + "  ";
  std::string text(1, begin);
  for (size_t i = 0; i < items.size(); ++i)
    text += (i == 0 ? "" : ", ") + deeper + items[i];
  return text + line + end;
}

std::string jsonList(const std::vector<std::string> &items, int depth, bool isLong) {
  constexpr size_t kShort = 10;
  return scope(items, depth, isLong || items.size() > kShort, '[', ']');
}

void JsonObject::add(std::string_view key, std::string_view value) {
  items_.push_back(fmt::format("{}: {}", jsonQuoted(key), value));
}

std::string JsonObject::text() const { return scope(items_, depth_, items_.size() > 1, '{', '}'); }

} // namespace lstmc::importers::mxnet
