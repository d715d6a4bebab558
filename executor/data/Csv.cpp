#include "executor/data/Csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "executor/base/NoMemory.h"
#include "executor/base/Quote.h"
#include "executor/base/SafeSize.h"
#include "executor/base/Utf8.h"
#include "executor/data/SymbolTable.h"

namespace lstmc::data {
namespace {

struct Cell {
  std::string_view text; ///< valid until the next cell is read
  int line = 1, column = 1;
  bool last = false; ///< the last cell of its line
};

/// Reads cells one after the other. `next` reports an error when it fails; do not call it again.
class CellReader {
public:
  CellReader(std::string_view text, const std::string &file, const Limits &limits)
      : text_(text), file_(&file), limits_(&limits) {
    if (text_.starts_with("\xef\xbb\xbf"))
      position_ = lineBegin_ = counted_ = 3;
  }

  bool atEnd() const { return position_ >= text_.size(); }
  int line() const { return line_; }

  Result<Cell> next() {
    Cell cell{{}, line_, column(), false};
    bool quotes = !atEnd() && text_[position_] == '"';
    if (quotes) {
      LSTMC_TRY(quoted(cell));
    } else {
      size_t end = position_;
      while (end < text_.size() && text_[end] != ',' && text_[end] != '\n')
        ++end;
      cell.text = text_.substr(position_, end - position_);
      position_ = end;
      bool lastOfLine = atEnd() || text_[position_] == '\n';
      if (lastOfLine && cell.text.ends_with('\r'))
        cell.text.remove_suffix(1);
      LSTMC_TRY(checkText(cell));
    }
    if (position_ - lineBegin_ > limits_->csvLine)
      return failAt({*file_, cell.line, cell.column}, ErrorCode::E0606,
                    "line: found more than {} bytes (limit csv-line)", limits_->csvLine);
    if (!atEnd() && text_[position_] == ',') {
      ++position_;
      return cell;
    }
    cell.last = true;
    if (!atEnd())
      newLine(position_++);
    return cell;
  }

private:
  /// Column of `position_`, counted on from the last call, so that a line is scanned only once.
  int column() {
    if (counted_ < lineBegin_) {
      counted_ = lineBegin_;
      column_ = 1;
    }
    for (; counted_ < position_; ++counted_)
      column_ += (uint8_t(text_[counted_]) & 0xc0) != 0x80;
    return column_;
  }
  void newLine(size_t end) {
    ++line_;
    lineBegin_ = end + 1;
  }
  Status checkText(const Cell &cell) const {
    size_t i = 0;
    while (i < cell.text.size()) {
      char32_t c = 0;
      int length = decodeUtf8(cell.text.substr(i), c);
      if (length == 0 || c == 0 || c == '"')
        return failAt(
            {*file_, cell.line, cell.column}, ErrorCode::E0603, "cell: found {}, want text",
            length == 0 ? fmt::format("byte {:#04x}, which is no UTF-8", uint8_t(cell.text[i]))
            : c == 0    ? "a NUL byte"
                        : "a quote inside an unquoted cell");
      i += size_t(length);
    }
    return {};
  }
  Status quoted(Cell &cell) {
    unquoted_.clear();
    size_t i = position_ + 1;
    while (true) {
      if (i >= text_.size())
        return failAt({*file_, cell.line, cell.column}, ErrorCode::E0603,
                      "quote: found the end of the file, want a closing quote");
      char c = text_[i];
      if (c == '"' && i + 1 < text_.size() && text_[i + 1] == '"') {
        unquoted_ += '"';
        i += 2;
        continue;
      }
      if (c == '"')
        break;
      char32_t point = 0;
      int length = decodeUtf8(text_.substr(i), point);
      if (length == 0 || point == 0)
        return failAt({*file_, cell.line, cell.column}, ErrorCode::E0603,
                      "cell: found byte {:#04x}, want text", uint8_t(c));
      if (i - lineBegin_ > limits_->csvLine)
        return failAt({*file_, cell.line, cell.column}, ErrorCode::E0606,
                      "line: found more than {} bytes (limit csv-line)", limits_->csvLine);
      if (c == '\n')
        newLine(i);
      unquoted_.append(text_.substr(i, size_t(length)));
      i += size_t(length);
    }
    position_ = i + 1;
    if (position_ < text_.size() && text_[position_] == '\r' &&
        (position_ + 1 == text_.size() || text_[position_ + 1] == '\n'))
      ++position_;
    if (!atEnd() && text_[position_] != ',' && text_[position_] != '\n')
      return failAt({*file_, line_, column()}, ErrorCode::E0603,
                    "quote: found text after the closing quote, want a comma");
    cell.text = unquoted_;
    return {};
  }

  std::string_view text_;
  const std::string *file_;
  const Limits *limits_;
  size_t position_ = 0, lineBegin_ = 0;
  size_t counted_ = 0; ///< the position that `column_` belongs to
  int line_ = 1, column_ = 1;
  std::string unquoted_;
};

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
  double value = 0;
  auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
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

/// Fills columns row by row; the first present cell of a column decides its type.
class TableBuilder {
public:
  TableBuilder(CsvTable &table, const CsvOptions &options, std::vector<std::string> names,
               const Limits &limits)
      : table_(table), options_(options), names_(std::move(names)), limits_(limits) {}

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
      table_.columns.push_back({names_[position], false, {}, {}, {}});
    };
    table_.columns.reserve(options_.columns.empty() ? names_.size() : options_.columns.size());
    if (options_.columns.empty())
      for (size_t i = 0; i < names_.size(); ++i)
        take(i);
    for (const std::string &name : options_.columns) {
      auto found = std::find(names_.begin(), names_.end(), name);
      if (found == names_.end())
        return failAt({table_.file, 1, 1}, ErrorCode::E0610,
                      "column {}: found none, want one of {}", inQuotes(name),
                      fmt::join(names_, ", "));
      take(size_t(found - names_.begin()));
    }
    typed_.assign(table_.columns.size(), false);
    symbols_.resize(table_.columns.size());
    return {};
  }

  /// Reserves space for so many rows, so that columns are not moved while they grow. It never
  /// reserves more cells than the file has bytes.
  void reserve(uint64_t rows, uint64_t fileBytes) {
    if ((SafeSize(rows) * names_.size()).within(fileBytes))
      for (CsvColumn &column : table_.columns)
        column.numbers.reserve(rows);
  }

  Status add(size_t position, const Cell &cell) {
    int slot = slotOf_[position];
    if (slot < 0)
      return {};
    CsvColumn &column = table_.columns[size_t(slot)];
    bool missing = cell.text.empty() || trimmed(cell.text) == options_.missing;
    if (!missing && !typed_[size_t(slot)]) {
      typed_[size_t(slot)] = true;
      column.text = !looksNumeric(cell.text);
      if (column.text) {
        column.categories.assign(column.numbers.size(), -1);
        column.numbers = {};
      }
    }
    if (column.text) {
      int32_t id = -1;
      if (!missing) {
        SymbolTable &symbols = symbols_[size_t(slot)];
        id = symbols.add(cell.text).first;
        if (symbols.size() > limits_.nodes)
          return failAt({table_.file, cell.line, cell.column}, ErrorCode::E0606,
                        "column {}: found more than {} different texts (limit nodes)",
                        inQuotes(column.name), limits_.nodes);
      }
      column.categories.push_back(id);
      return {};
    }
    std::optional<double> value =
        missing ? std::numeric_limits<double>::quiet_NaN() : number(cell.text);
    if (!value)
      return failAt({table_.file, cell.line, cell.column}, ErrorCode::E0607,
                    "column {}: found {}, want a finite decimal number", inQuotes(column.name),
                    inQuotes(cell.text));
    column.numbers.push_back(*value);
    return {};
  }

  /// Sorts categories by their bytes; before, they are in order of first appearance.
  void finish() {
    for (size_t slot = 0; slot < table_.columns.size(); ++slot) {
      CsvColumn &column = table_.columns[slot];
      const SymbolTable &symbols = symbols_[slot];
      std::vector<int32_t> order(symbols.size()), rank(symbols.size());
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(),
                [&](int32_t a, int32_t b) { return symbols[size_t(a)] < symbols[size_t(b)]; });
      column.symbols.reserve(order.size());
      for (int32_t id : order) {
        rank[size_t(id)] = int32_t(column.symbols.size());
        column.symbols.emplace_back(symbols[size_t(id)]);
      }
      for (int32_t &category : column.categories)
        category = category < 0 ? -1 : rank[size_t(category)];
    }
  }

private:
  CsvTable &table_;
  const CsvOptions &options_;
  std::vector<std::string> names_;
  std::vector<int> slotOf_; ///< per column of the file; -1: the column is not read
  std::vector<bool> typed_;
  std::vector<SymbolTable> symbols_; ///< symbols of text columns, in the order of first appearance
  const Limits &limits_;
};

} // namespace

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

Result<CsvTable> parseCsv(std::span<const uint8_t> bytes, const std::string &file,
                          const CsvOptions &options, const Limits &limits) try {
  CsvTable table;
  table.file = file;
  std::string_view text = asText(bytes);
  CellReader first(text, file, limits);
  if (first.atEnd())
    return failAt({file, 1, 1}, ErrorCode::E0602,
                  "table: found an empty file, want a line of names");
  std::vector<std::string> names;
  bool allNumbers = true;
  for (bool more = true; more;) {
    LSTMC_ASSIGN(Cell cell, first.next());
    if (names.size() >= limits.nodes || cell.text.size() > limits.name)
      return failAt(
          {file, cell.line, cell.column}, ErrorCode::E0606,
          "names: found more columns or a longer name than the limits nodes and name allow");
    allNumbers &= number(cell.text).has_value();
    names.emplace_back(trimmed(cell.text));
    more = !cell.last;
  }
  CellReader cells = first;
  if (allNumbers) {
    for (size_t i = 0; i < names.size(); ++i)
      names[i] = std::to_string(i + 1);
    cells = CellReader(text, file, limits);
  }
  TableBuilder builder(table, options, std::move(names), limits);
  LSTMC_TRY(builder.choose());
  builder.reserve(uint64_t(std::count(text.begin(), text.end(), '\n')), bytes.size());
  int expectedLine = 0;
  while (!cells.atEnd()) {
    if (table.rows == 0 || cells.line() != expectedLine)
      table.jumps.emplace_back(table.rows, cells.line());
    expectedLine = cells.line() + 1;
    size_t position = 0;
    for (bool more = true; more; ++position) {
      LSTMC_ASSIGN(Cell cell, cells.next());
      more = !cell.last;
      if (position >= builder.width() || (!more && position + 1 != builder.width()))
        return failAt({file, cell.line, cell.column}, ErrorCode::E0605,
                      "row: found {} {} cells, want {}",
                      position >= builder.width() ? "more than" : "only",
                      position >= builder.width() ? position : position + 1, builder.width());
      LSTMC_TRY(builder.add(position, cell));
    }
    ++table.rows;
  }
  builder.finish();
  return table;
} catch (const std::bad_alloc &) {
  return noMemory(file);
}

Result<CsvTable> loadCsv(const std::string &path, const CsvOptions &options, const Limits &limits) {
  LSTMC_ASSIGN(Bytes bytes, readFile(path));
  return parseCsv(bytes, path, options, limits);
}

} // namespace lstmc::data
