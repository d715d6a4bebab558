#include "executor/data/TableColumns.h"

#include <algorithm>

#include "executor/base/Quote.h"

namespace lstmc::data {

void Feature::append(int64_t row, std::vector<double> &to) const {
  if (!column->text) {
    to.push_back(scaled(row));
    return;
  }
  const size_t begin = to.size();
  to.resize(begin + size_t(width()), 0.0);
  to[begin + size_t(symbol(row))] = 1.0;
}

/// The line of the first row with that text.
static int lineOf(const CsvTable &table, const CsvColumn &column, const std::string &symbol) {
  for (size_t row = 0; row < column.categories.size(); ++row)
    if (column.categories[row] >= 0 && column.symbols[size_t(column.categories[row])] == symbol)
      return table.lineOf(int64_t(row));
  return 1;
}

Result<Feature> featureOf(const CsvTable &table, const std::vector<ColumnScaling> &all,
                          const std::string &name) {
  const CsvColumn *column = table.find(name);
  auto scaling = std::find_if(all.begin(), all.end(),
                              [&](const ColumnScaling &one) { return one.name == name; });
  if (!column || scaling == all.end())
    return failAt({table.file}, ErrorCode::E0610,
                  "column {}: found no scaling of the training data for it", inQuotes(name));
  Feature feature{column, &*scaling, {}};
  if (column->text != scaling->text)
    return failAt({table.file}, ErrorCode::E0610,
                  "column {}: found {}, want {} as in the training data", inQuotes(name),
                  column->text ? "text" : "numbers", scaling->text ? "text" : "numbers");
  for (const std::string &symbol : column->symbols) {
    auto known = std::lower_bound(scaling->symbols.begin(), scaling->symbols.end(), symbol);
    if (known == scaling->symbols.end() || *known != symbol)
      return failAt({table.file, lineOf(table, *column, symbol), 1}, ErrorCode::E0607,
                    "column {}: found {}, want one of the training data's {} symbols",
                    inQuotes(name), inQuotes(symbol), scaling->symbols.size());
    feature.symbolOf.push_back(int32_t(known - scaling->symbols.begin()));
  }
  return feature;
}

std::optional<Target> targetOf(const std::vector<ColumnScaling> &scaling, const std::string &name) {
  for (const ColumnScaling &one : scaling)
    if (one.name == name)
      return Target{one.name, one.mean, one.deviation, one.symbols};
  return std::nullopt;
}

Status checkRange(const CsvTable &table, const InputSlot &slot, const Feature &feature,
                  int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    if (feature.missing(row))
      continue;
    const double value = feature.label(row);
    if (!slot.range->holds(value))
      return failAt({table.file, table.lineOf(row), 1}, ErrorCode::E0604,
                    "column {}: found {}, want {} for input {}", inQuotes(feature.column->name),
                    feature.column->text
                        ? fmt::format("{}, symbol {} of {}",
                                      inQuotes(feature.scaling->symbols[size_t(value)]), value,
                                      feature.scaling->symbols.size())
                        : fmt::format("{} (scaled)", value),
                    slot.range->text(), inQuotes(slot.name));
  }
  return {};
}

} // namespace lstmc::data
