#include "executor/data/Scaling.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "executor/data/StrictJson.h"

namespace lstmc::data {
namespace {

std::optional<double> parseHex(const std::string &text) {
  std::string_view digits = text;
  bool negative = digits.starts_with('-');
  digits.remove_prefix(negative ? 1 : 0);
  if (!digits.starts_with("0x"))
    return std::nullopt;
  digits.remove_prefix(2);
  double value = 0;
  auto [end, fault] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::hex);
  if (fault != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
    return std::nullopt;
  return negative ? -value : value;
}

} // namespace

std::vector<ColumnScaling> learnScaling(const CsvTable &table, int64_t rows) {
  std::vector<ColumnScaling> scaling;
  for (const CsvColumn &column : table.columns) {
    ColumnScaling one{column.name, column.text, 0, 1, column.symbols};
    if (!column.text) {
      double sum = 0, squares = 0;
      int64_t count = 0;
      for (int64_t row = 0; row < rows; ++row) {
        double value = column.numbers[size_t(row)];
        sum += std::isnan(value) ? 0 : value;
        count += !std::isnan(value);
      }
      one.mean = count ? sum / double(count) : 0;
      for (int64_t row = 0; row < rows; ++row) {
        double away = column.numbers[size_t(row)] - one.mean;
        squares += std::isnan(away) ? 0 : away * away;
      }
      double deviation = count ? std::sqrt(squares / double(count)) : 0;
      one.deviation = deviation > 0 && std::isfinite(deviation) ? deviation : 1;
    }
    scaling.push_back(std::move(one));
  }
  return scaling;
}

std::string scalingText(const std::vector<ColumnScaling> &scaling) {
  std::string text = "[";
  for (const ColumnScaling &one : scaling) {
    nlohmann::ordered_json entry = {{"name", one.name}};
    if (one.text) {
      entry["symbols"] = one.symbols;
    } else {
      entry["mean"] = one.mean;
      entry["deviation"] = one.deviation;
    }
    text += (&one == scaling.data() ? "" : ",\n   ") + entry.dump();
  }
  return text + "]";
}

Result<std::vector<ColumnScaling>> parseScaling(std::string_view text, const std::string &file,
                                                const Limits &limits) {
  LSTMC_ASSIGN(nlohmann::json list, parseJson(text, file, limits));
  std::vector<ColumnScaling> scaling;
  auto refuse = [&] {
    return failAt({file}, ErrorCode::E0604,
                  "scaling: found no list of columns with name, and mean and deviation or symbols");
  };
  if (!list.is_array())
    return refuse();
  for (const nlohmann::json &entry : list) {
    if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string())
      return refuse();
    ColumnScaling one{entry["name"], entry.contains("symbols"), 0, 1, {}};
    if (one.text) {
      if (!entry["symbols"].is_array())
        return refuse();
      for (const nlohmann::json &symbol : entry["symbols"]) {
        if (!symbol.is_string() || (!one.symbols.empty() && !(one.symbols.back() < symbol)))
          return refuse();
        one.symbols.push_back(symbol);
      }
    } else {
      auto number = [&](const char *key) -> std::optional<double> {
        if (!entry.contains(key))
          return std::nullopt;
        const nlohmann::json &value = entry[key];
        if (value.is_number())
          return value.get<double>();
        return value.is_string() ? parseHex(value) : std::nullopt; // as before 0.2
      };
      std::optional<double> mean = number("mean"), deviation = number("deviation");
      if (!mean || !deviation || !(*deviation > 0))
        return refuse();
      one.mean = *mean;
      one.deviation = *deviation;
    }
    scaling.push_back(std::move(one));
  }
  return scaling;
}

} // namespace lstmc::data
