#include "frontend/driver/FieldTypes.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "executor/base/NumberText.h"
#include "executor/base/Suggest.h"

namespace lstmc::driver {

static Result<int64_t> parseScaled(std::string_view flag, std::string_view text, int64_t kilo,
                                   std::string_view what) {
  if (std::optional<int64_t> number = scaledNumber(text, kilo))
    return *number;
  return fail(ErrorCode::E0001, "--{} takes {}, got \"{}\"", flag, what, text);
}

Status refuseEmpty(std::string_view flag, std::string_view text) {
  if (text.empty())
    return fail(ErrorCode::E0001, "--{} takes a value, got \"\"", flag);
  return {};
}

Result<std::string> Text::parse(std::string_view, std::string_view text) {
  return std::string(text);
}

Result<int64_t> Count::parse(std::string_view flag, std::string_view text) {
  return parseScaled(flag, text, 1000, "a count (K, M, G are powers of 1,000)");
}

Result<int64_t> ByteCount::parse(std::string_view flag, std::string_view text) {
  return parseScaled(flag, text, 1024, "bytes (K, M, G are powers of 1,024)");
}

Result<double> Number::parse(std::string_view flag, std::string_view text) {
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number))
    return fail(ErrorCode::E0001, "--{} takes a number, got \"{}\"", flag, text);
  return number;
}

Result<std::vector<std::string>> Words::parse(std::string_view, std::string_view text) {
  return splitCommas(text);
}

Result<std::vector<int64_t>> Counts::parse(std::string_view flag, std::string_view text) {
  std::vector<int64_t> counts;
  for (const std::string &part : splitCommas(text)) {
    LSTMC_ASSIGN(counts.emplace_back(), Count::parse(flag, part));
  }
  return counts;
}

Result<std::pair<std::string, std::string>> NameValue::parse(std::string_view flag,
                                                             std::string_view text) {
  size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0)
    return fail(ErrorCode::E0001, "--{} takes NAME=VALUE, got \"{}\"", flag, text);
  return std::pair(std::string(text.substr(0, equals)), std::string(text.substr(equals + 1)));
}

Result<std::pair<std::string, int64_t>> NamedCount::parse(std::string_view flag,
                                                          std::string_view text) {
  LSTMC_ASSIGN(auto named, NameValue::parse(flag, text));
  LSTMC_ASSIGN(int64_t count, Count::parse(flag, named.second));
  return std::pair(named.first, count);
}

Result<symbol::InputShape> Shape::parse(std::string_view flag, std::string_view text) {
  size_t separator = text.find_first_of(":=");
  auto refuse = [&] {
    return fail(ErrorCode::E0001, "--{} takes NAME:32x35, got \"{}\"", flag, text);
  };
  if (separator == std::string_view::npos || separator == 0)
    return refuse();
  symbol::InputShape shape{std::string(text.substr(0, separator)), {}, {}};
  std::string rest(text.substr(separator + 1));
  std::erase_if(rest, [](char c) { return c == '[' || c == ']' || c == ' '; });
  std::replace(rest.begin(), rest.end(), ',', 'x');
  for (size_t at = 0; at <= rest.size();) {
    size_t end = std::min(rest.find('x', at), rest.size());
    std::string part = rest.substr(at, end - at);
    at = end + 1;
    if (std::optional<DType> dtype = parseDType(part); dtype && end == rest.size()) {
      shape.dtype = dtype;
      continue;
    }
    Result<int64_t> extent = Count::parse(flag, part);
    if (part.empty() || !extent.ok() || *extent < 1)
      return refuse();
    shape.extents.push_back(*extent);
  }
  return shape;
}

Result<DType> FloatType::parse(std::string_view flag, std::string_view text) {
  std::optional<DType> dtype = parseDType(text);
  if (dtype != DType::F32 && dtype != DType::F64)
    return fail(ErrorCode::E0001, "--{} takes f32 or f64, got \"{}\"", flag, text);
  return *dtype;
}

Result<training::Amount> Amount::parse(std::string_view flag, std::string_view text) {
  Result<training::Amount> amount = training::Amount::parse(text, flag);
  if (amount.ok())
    return amount;
  return fail(ErrorCode::E0001, "--{} takes {}, got \"{}\"", flag, training::Amount::kForms, text);
}

std::vector<std::string_view> wordsIn(std::string_view words) {
  std::vector<std::string_view> all;
  for (size_t at = 0; at < words.size();) {
    size_t end = std::min(words.find('|', at), words.size());
    all.push_back(words.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

/// "a, b or c"
static std::string alternatives(const std::vector<std::string_view> &words) {
  std::string text(words.front());
  for (size_t i = 1; i < words.size(); ++i)
    text += fmt::format("{}{}", i + 1 == words.size() ? " or " : ", ", words[i]);
  return text;
}

Result<size_t> placeAmong(std::string_view words, std::string_view flag, std::string_view text) {
  std::vector<std::string_view> all = wordsIn(words);
  auto found = std::find(all.begin(), all.end(), text);
  if (found == all.end())
    return fail(ErrorCode::E0001, "--{} takes {}, got \"{}\"{}", flag, alternatives(all), text,
                didYouMean(text, all));
  return size_t(found - all.begin());
}

std::string didYouMean(std::string_view word, const std::vector<std::string_view> &candidates,
                       std::string_view prefix) {
  std::string name = nearest(word, candidates);
  return name.empty() ? name : fmt::format("; did you mean \"{}{}\"?", prefix, name);
}

} // namespace lstmc::driver
