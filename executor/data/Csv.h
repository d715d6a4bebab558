// Tables: comma-separated values, with a first line of names.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "executor/base/Limits.h"
#include "executor/data/StoredBytes.h"

namespace lstmc::data {

/// A column of the table. Numeric, unless its first present cell does not look like a number.
struct CsvColumn {
  std::string name;
  bool text = false;
  int64_t missing = 0;              ///< number of missing cells
  int64_t firstMissing = -1;        ///< row of the first of these; -1: none
  std::vector<std::string> symbols; ///< if text: in the order of first appearance
  std::vector<int64_t> firstRows;   ///< the row in which each symbol appears first

  /// The numbers of the symbols, sorted by the bytes of these.
  std::vector<int32_t> sortedSymbols() const;
};

struct CsvTable {
  std::string file;
  int64_t rows = 0;
  std::vector<CsvColumn> columns;
  /// Rows that do not begin on the line after that of the row before, with their line numbers from
  /// 1.
  std::vector<std::pair<int64_t, int>> jumps;
  /// [rows, columns] in f64: the number of a numeric cell, the number of a text cell's symbol, NaN
  /// for a missing cell.
  StoredBytes cells = std::span<const uint8_t>();

  const CsvColumn *find(std::string_view name) const;
  /// The line on which a row begins.
  int lineOf(int64_t row) const;
  /// The cells of `count` rows from row `first` on; `buffer` keeps them if they come from a file.
  /// Errors are those of StoredBytes::readTo.
  Result<const double *> read(int64_t first, int64_t count, Bytes &buffer) const;
  /// Calls `take(row, cells)` for the rows [begin, end), in order, until it fails.
  Status eachRow(int64_t begin, int64_t end,
                 const std::function<Status(int64_t row, const double *cells)> &take) const;
};

struct CsvOptions {
  std::vector<std::string> columns; ///< columns to read, in this order; empty: all
  std::string missing = "NA";       ///< a cell with this text, or an empty one, is missing
  /// A missing cell has the value of the row before, if there is one. It still counts as missing.
  bool fillsPrevious = false;
};

/// Reads a table. Cells are separated by commas and may be quoted (RFC 4180). Lines end in LF or
/// CRLF; the last line need not. A byte order mark is skipped. If every cell of the first line is a
/// number, the table has no names, and columns are called "1", "2", ...
///
/// Numbers are decimal with a point, whatever the locale. Refused, with line and column: a line
/// with another number of cells, a quote that is never closed, NUL, bytes that are not UTF-8
/// (E0603, E0605), a cell in a numeric column that is no finite number (E0607: nan, inf, 1e999,
/// 0x1p3), a line or a cell above the limit csv-line (E0606), a name that occurs twice (E0612), a
/// requested column that the table does not have (E0610).
///
/// The table's cells are in memory if they need no more than the limit data-memory.
Result<CsvTable> readCsv(StoredBytes bytes, const std::string &file, const CsvOptions &options = {},
                         const Limits &limits = {});
/// The same of bytes in memory, and of a file.
Result<CsvTable> parseCsv(std::span<const uint8_t> bytes, const std::string &file,
                          const CsvOptions &options = {}, const Limits &limits = {});
Result<CsvTable> loadCsv(const std::string &path, const CsvOptions &options = {},
                         const Limits &limits = {});

} // namespace lstmc::data
