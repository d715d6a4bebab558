#include "executor/data/TableColumns.h"

#include <algorithm>

#include "executor/base/Quote.h"

namespace lstmc::data {

void Feature::append(const double *cells, std::vector<double> &to) const {
  if (!column->text) {
    to.push_back(scaled(cells));
    return;
  }
  const size_t begin = to.size();
  to.resize(begin + size_t(width()), 0.0);
  to[begin + size_t(symbol(cells))] = 1.0;
}

Result<Feature> featureOf(const CsvTable &table, const std::vector<ColumnScaling> &all,
                          const std::string &name) {
  const CsvColumn *column = table.find(name);
  auto scaling = std::find_if(all.begin(), all.end(),
                              [&](const ColumnScaling &one) { return one.name == name; });
  if (!column || scaling == all.end())
    return failAt({table.file}, ErrorCode::E0610,
                  "column {}: found no scaling of the training data for it", inQuotes(name));
  Feature feature{column, size_t(column - table.columns.data()), &*scaling, {}};
  if (column->text != scaling->text)
    return failAt({table.file}, ErrorCode::E0610,
                  "column {}: found {}, want {} as in the training data", inQuotes(name),
                  column->text ? "text" : "numbers", scaling->text ? "text" : "numbers");
  feature.symbolOf.resize(column->symbols.size());
  for (int32_t number : column->sortedSymbols()) {
    const std::string &symbol = column->symbols[size_t(number)];
    auto known = std::lower_bound(scaling->symbols.begin(), scaling->symbols.end(), symbol);
    if (known == scaling->symbols.end() || *known != symbol)
      return failAt({table.file, table.lineOf(column->firstRows[size_t(number)]), 1},
                    ErrorCode::E0607,
                    "column {}: found {}, want one of the training data's {} symbols",
                    inQuotes(name), inQuotes(symbol), scaling->symbols.size());
    feature.symbolOf[size_t(number)] = int32_t(known - scaling->symbols.begin());
  }
  return feature;
}

std::optional<Target> targetOf(const std::vector<ColumnScaling> &scaling, const std::string &name) {
  for (const ColumnScaling &one : scaling)
    if (one.name == name)
      return Target{one.name, one.mean, one.deviation, one.symbols};
  return std::nullopt;
}

static Error outOfRange(const CsvTable &table, const InputSlot &slot, const Feature &feature,
                        int64_t row, double value) {
  return failAt({table.file, table.lineOf(row), 1}, ErrorCode::E0604,
                "column {}: found {}, want {} for input {}", inQuotes(feature.column->name),
                feature.column->text
                    ? fmt::format("{}, symbol {} of {}",
                                  inQuotes(feature.scaling->symbols[size_t(value)]), value,
                                  feature.scaling->symbols.size())
                    : fmt::format("{} (scaled)", value),
                slot.range->text(), inQuotes(slot.name));
}

Status checkRange(const CsvTable &table, const InputSlot &slot, std::span<const Feature> features,
                  int64_t begin, int64_t end) {
  std::optional<Error> found;
  size_t checked = features.size(); // features before the one that `found` is of
  LSTMC_TRY(table.eachRow(begin, end, [&](int64_t row, const double *cells) -> Status {
    for (size_t i = 0; i < checked; ++i) {
      if (features[i].missing(cells))
        continue;
      const double value = features[i].label(cells);
      if (slot.range->holds(value))
        continue;
      found = outOfRange(table, slot, features[i], row, value);
      checked = i;
    }
    return {};
  }));
  return found ? Status(*found) : Status();
}

} // namespace lstmc::data
