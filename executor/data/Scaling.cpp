#include "executor/data/Scaling.h"

#include <algorithm>
#include <cmath>

#include "executor/base/ParseNumber.h"
#include "executor/data/StrictJson.h"

namespace lstmc::data {
Result<std::vector<ColumnScaling>> learnScaling(const CsvTable &table, int64_t rows) {
  const size_t width = table.columns.size();
  std::vector<double> sums(width, 0.0), squares(width, 0.0);
  std::vector<int64_t> counts(width, 0);
  std::vector<ColumnScaling> scaling(width);
  LSTMC_TRY(table.eachRow(0, rows, [&](int64_t, const double *cells) -> Status {
    for (size_t i = 0; i < width; ++i) {
      sums[i] += std::isnan(cells[i]) ? 0 : cells[i];
      counts[i] += !std::isnan(cells[i]);
    }
    return {};
  }));
  for (size_t i = 0; i < width; ++i)
    scaling[i].mean = counts[i] ? sums[i] / double(counts[i]) : 0;
  LSTMC_TRY(table.eachRow(0, rows, [&](int64_t, const double *cells) -> Status {
    for (size_t i = 0; i < width; ++i) {
      const double away = cells[i] - scaling[i].mean;
      squares[i] += std::isnan(away) ? 0 : away * away;
    }
    return {};
  }));
  for (size_t i = 0; i < width; ++i) {
    const CsvColumn &column = table.columns[i];
    scaling[i].name = column.name;
    scaling[i].text = column.text;
    if (column.text) {
      scaling[i].mean = 0;
      for (int32_t symbol : column.sortedSymbols())
        scaling[i].symbols.push_back(column.symbols[size_t(symbol)]);
      continue;
    }
    const double deviation = counts[i] ? std::sqrt(squares[i] / double(counts[i])) : 0;
    scaling[i].deviation = deviation > 0 && std::isfinite(deviation) ? deviation : 1;
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
  LSTMC_ASSIGN(const JsonTree tree, parseJson(text, file, limits));
  const nlohmann::json &list = *tree;
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
        return value.is_string() ? parseHexFloat(value.get<std::string>())
                                 : std::nullopt; // as before 0.2
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
