#include "executor/data/Csv.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <numeric>
#include <set>

#include "executor/base/NoMemory.h"
#include "executor/base/ParseNumber.h"
#include "executor/base/Quote.h"
#include "executor/base/SafeSize.h"
#include "executor/data/CsvCells.h"
#include "executor/data/SymbolTable.h"

namespace lstmc::data {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

std::optional<double> number(std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('+') && !text.starts_with("+-"))
    text.remove_prefix(1);
  return parseFinite(text);
}

/// Whether a cell was meant as a number. If so, a bad number is an error and not a text cell.
bool looksNumeric(std::string_view text) {
  text = trimmed(text);
  if (!text.empty() && (text[0] == '+' || text[0] == '-'))
    text.remove_prefix(1);
  if (!text.empty() && text[0] == '.')
    text.remove_prefix(1);
  if (!text.empty() && text[0] >= '0' && text[0] <= '9')
    return true;
  std::string lower(text.substr(0, 9));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
  return lower == "nan" || lower == "inf" || lower == "infinity";
}

/// Whether other programs write that for a cell without a value.
bool saysMissing(std::string_view text) {
  constexpr std::string_view kWords[] = {"nan", "null", "none", "n/a", "na", "-", "?"};
  std::string lower(trimmed(text).substr(0, 5));
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return std::ranges::find(kWords, lower) != std::end(kWords);
}

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

/// Adds row after row; the first present cell of a column decides its type.
class TableBuilder {
public:
  TableBuilder(CsvTable &table, const CsvOptions &options, std::vector<std::string> names,
               const Limits &limits)
      : table_(table), options_(options), names_(std::move(names)), limits_(limits),
        cells_(limits.dataMemory) {}

  size_t width() const { return names_.size(); }

  Status choose() {
    std::set<std::string_view> seen;
    for (const std::string &name : names_)
      if (!seen.insert(name).second)
        return failAt({table_.file, 1, 1}, ErrorCode::E0612, "column {}: found twice, want once",
                      inQuotes(name));
    slotOf_.assign(names_.size(), -1);
    auto take = [&](size_t position) {
      int &slot = slotOf_[position];
      if (slot >= 0)
        return;
      slot = int(table_.columns.size());
      table_.columns.emplace_back().name = names_[position];
    };
    table_.columns.reserve(options_.columns.empty() ? names_.size() : options_.columns.size());
    if (options_.columns.empty())
      for (size_t i = 0; i < names_.size(); ++i)
        take(i);
    for (const std::string &name : options_.columns) {
      auto found = std::find(names_.begin(), names_.end(), name);
      if (found == names_.end())
        return failAt({table_.file, 1, 1}, ErrorCode::E0610,
                      "column {}: found none, want one of {}{}", inQuotes(name),
                      fmt::join(names_, ", "),
                      names_.size() == 1 && names_[0].find_first_of(";\t|") != std::string::npos
                          ? "; cells are separated by commas"
                          : "");
      take(size_t(found - names_.begin()));
    }
    typed_.assign(table_.columns.size(), false);
    symbols_.resize(table_.columns.size());
    row_.assign(table_.columns.size(), kMissing);
    return {};
  }

  /// Expects so many rows at most: reserves memory for them, so that cells are not moved while they
  /// grow, but never for more cells than the file has bytes; or keeps none in memory.
  void reserve(uint64_t rows, uint64_t fileBytes) {
    SafeSize cells = SafeSize(rows) * row_.size(), bytes = cells * sizeof(double);
    if (!bytes.within(limits_.dataMemory))
      cells_ = StoredBytesWriter(/*held=*/0);
    else if (cells.within(fileBytes))
      cells_.reserve(*bytes.value());
  }

  /// Takes a cell of the next row.
  Status add(size_t position, const CsvCell &cell) {
    int slot = slotOf_[position];
    if (slot < 0)
      return {};
    CsvColumn &column = table_.columns[size_t(slot)];
    double &value = row_[size_t(slot)];
    bool missing = cell.text.empty() || trimmed(cell.text) == options_.missing;
    if (missing) {
      if (column.missing++ == 0)
        column.firstMissing = table_.rows;
      if (!options_.fillsPrevious)
        value = kMissing;
      return {};
    }
    if (!typed_[size_t(slot)]) {
      typed_[size_t(slot)] = true;
      column.text = !looksNumeric(cell.text);
    }
    if (column.text) {
      SymbolTable &symbols = symbols_[size_t(slot)];
      auto [symbol, isNew] = symbols.add(cell.text);
      if (symbols.size() > limits_.nodes)
        return failAt({table_.file, cell.line, cell.column}, ErrorCode::E0606,
                      "column {}: found more than {} different texts (limit nodes)",
                      inQuotes(column.name), limits_.nodes);
      if (isNew)
        column.firstRows.push_back(table_.rows);
      value = symbol;
      return {};
    }
    std::optional<double> read = number(cell.text);
    if (!read)
      return failAt({table_.file, cell.line, cell.column}, ErrorCode::E0607,
                    "column {}: found {}, want a finite decimal number{}", inQuotes(column.name),
                    inQuotes(cell.text),
                    saysMissing(cell.text)
                        ? fmt::format("; na={} says that the cell is missing", trimmed(cell.text))
                        : "");
    value = *read;
    return {};
  }
  Status endRow() {
    ++table_.rows;
    return cells_.append(
        {reinterpret_cast<const uint8_t *>(row_.data()), row_.size() * sizeof(double)});
  }

  Status finish() {
    for (size_t slot = 0; slot < table_.columns.size(); ++slot) {
      const SymbolTable &symbols = symbols_[slot];
      table_.columns[slot].symbols.reserve(symbols.size());
      for (size_t id = 0; id < symbols.size(); ++id)
        table_.columns[slot].symbols.emplace_back(symbols[id]);
    }
    LSTMC_ASSIGN(table_.cells, std::move(cells_).finish());
    return {};
  }

private:
  CsvTable &table_;
  const CsvOptions &options_;
  std::vector<std::string> names_;
  std::vector<int> slotOf_; ///< per column of the file; -1: the column is not read
  std::vector<bool> typed_;
  std::vector<SymbolTable> symbols_; ///< of text columns
  const Limits &limits_;
  std::vector<double> row_; ///< the cells of the row at hand, where it has none yet of that before
  StoredBytesWriter cells_;
};

} // namespace

std::vector<int32_t> CsvColumn::sortedSymbols() const {
  std::vector<int32_t> order(symbols.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {},
                    [&](int32_t id) -> const std::string & { return symbols[size_t(id)]; });
  return order;
}

const CsvColumn *CsvTable::find(std::string_view name) const {
  for (const CsvColumn &column : columns)
    if (column.name == name)
      return &column;
  return nullptr;
}

int CsvTable::lineOf(int64_t row) const {
  auto after = std::upper_bound(jumps.begin(), jumps.end(), row,
                                [](int64_t value, const auto &jump) { return value < jump.first; });
  return after == jumps.begin() ? 1 : int((after - 1)->second + row - (after - 1)->first);
}

Result<const double *> CsvTable::read(int64_t first, int64_t count, Bytes &buffer) const {
  const uint64_t row = columns.size() * sizeof(double);
  LSTMC_ASSIGN(std::span<const uint8_t> bytes,
               cells.read(uint64_t(first) * row, uint64_t(count) * row, buffer));
  return reinterpret_cast<const double *>(bytes.data());
}

Status CsvTable::eachRow(int64_t begin, int64_t end,
                         const std::function<Status(int64_t, const double *)> &take) const {
  constexpr int64_t kCells = 1 << 17; // that are read at once
  const int64_t width = int64_t(columns.size()), most = std::max<int64_t>(kCells / width, 1);
  Bytes buffer;
  for (int64_t first = begin; first < end; first += most) {
    const int64_t count = std::min(most, end - first);
    LSTMC_ASSIGN(const double *rows, read(first, count, buffer));
    for (int64_t i = 0; i < count; ++i)
      LSTMC_TRY(take(first + i, rows + i * width));
  }
  return {};
}

/// The first line; whether it has numbers alone, and so no names.
static Result<bool> readNames(CsvCells &cells, const std::string &file, const Limits &limits,
                              std::vector<std::string> &names) {
  bool allNumbers = true;
  for (bool more = true; more;) {
    LSTMC_ASSIGN(CsvCell cell, cells.next());
    if (names.size() >= limits.nodes || cell.text.size() > limits.name)
      return failAt(
          {file, cell.line, cell.column}, ErrorCode::E0606,
          "names: found more columns or a longer name than the limits nodes and name allow");
    allNumbers &= number(cell.text).has_value();
    names.emplace_back(trimmed(cell.text));
    more = !cell.last;
  }
  return allNumbers;
}

static Status readRow(CsvCells &cells, const std::string &file, TableBuilder &builder) {
  size_t position = 0;
  for (bool more = true; more; ++position) {
    LSTMC_ASSIGN(CsvCell cell, cells.next());
    more = !cell.last;
    if (position == 0 && !more && cell.text.empty() && builder.width() > 1)
      return failAt({file, cell.line, cell.column}, ErrorCode::E0605,
                    "row: found an empty line, want {} cells", builder.width());
    if (position >= builder.width() || (!more && position + 1 != builder.width()))
      return failAt({file, cell.line, cell.column}, ErrorCode::E0605,
                    "row: found {} {} cells, want {}",
                    position >= builder.width() ? "more than" : "only",
                    position >= builder.width() ? position : position + 1, builder.width());
    LSTMC_TRY(builder.add(position, cell));
  }
  return builder.endRow();
}

Result<CsvTable> readCsv(StoredBytes bytes, const std::string &file, const CsvOptions &options,
                         const Limits &limits) try {
  CsvTable table;
  table.file = file;
  CsvCells cells(bytes, file, limits);
  LSTMC_TRY(cells.begin());
  if (cells.atEnd())
    return failAt({file, 1, 1}, ErrorCode::E0602,
                  "table: found an empty file, want a line of names");
  std::vector<std::string> names;
  LSTMC_ASSIGN(bool nameless, readNames(cells, file, limits, names));
  if (nameless) {
    for (size_t i = 0; i < names.size(); ++i)
      names[i] = std::to_string(i + 1);
    LSTMC_TRY(cells.begin());
  }
  TableBuilder builder(table, options, std::move(names), limits);
  LSTMC_TRY(builder.choose());
  uint64_t lines = 0;
  LSTMC_TRY(bytes.eachBlock([&](std::span<const uint8_t> block) -> Status {
    lines += uint64_t(std::ranges::count(block, '\n'));
    return {};
  }));
  builder.reserve(lines, bytes.size());
  int expectedLine = 0;
  while (!cells.atEnd()) {
    if (table.rows == 0 || cells.line() != expectedLine)
      table.jumps.emplace_back(table.rows, cells.line());
    expectedLine = cells.line() + 1;
    LSTMC_TRY(readRow(cells, file, builder));
  }
  LSTMC_TRY(builder.finish());
  return table;
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

Result<CsvTable> parseCsv(std::span<const uint8_t> bytes, const std::string &file,
                          const CsvOptions &options, const Limits &limits) {
  return readCsv(bytes, file, options, limits);
}

Result<CsvTable> loadCsv(const std::string &path, const CsvOptions &options,
                         const Limits &limits) try {
  LSTMC_ASSIGN(InputFile file, InputFile::open(path));
  LSTMC_ASSIGN(StoredBytes bytes, StoredBytes::of(std::move(file), limits.dataMemory));
  return readCsv(std::move(bytes), path, options, limits);
} catch (const std::bad_alloc &) {
  return noMemory(path);
}

} // namespace lstmc::data
