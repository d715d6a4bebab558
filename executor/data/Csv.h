// Tables: comma-separated values, with a first line of names.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "executor/base/InputFile.h"
#include "executor/base/Limits.h"

namespace lstmc::data {

/// A column of the table. Numeric, unless its first present cell does not look like a number.
struct CsvColumn {
  std::string name;
  bool text = false;
  std::vector<double> numbers;      ///< if numeric; NaN for a missing cell
  std::vector<int32_t> categories;  ///< if text: index into `symbols`; -1 for a missing cell
  std::vector<std::string> symbols; ///< sorted by bytes
};

struct CsvTable {
  std::string file;
  int64_t rows = 0;
  std::vector<CsvColumn> columns;
  /// Rows that do not begin on the line after that of the row before, with their line numbers from
  /// 1.
  std::vector<std::pair<int64_t, int>> jumps;

  const CsvColumn *find(std::string_view name) const;
  /// The line on which a row begins.
  int lineOf(int64_t row) const;
};

struct CsvOptions {
  std::vector<std::string> columns; ///< columns to read, in this order; empty: all
  std::string missing = "NA";       ///< a cell with this text, or an empty one, is missing
};

/// Reads a table. Cells are separated by commas and may be quoted (RFC 4180). Lines end in LF or
/// CRLF; the last line need not. A byte order mark is skipped. If every cell of the first line is a
/// number, the table has no names, and columns are called "1", "2", ...
///
/// Numbers are decimal with a point, whatever the locale. Refused, with line and column: a line
/// with another number of cells, a quote that is never closed, NUL, bytes that are not UTF-8
/// (E0603, E0605), a cell in a numeric column that is no finite number (E0607: nan, inf, 1e999,
/// 0x1p3), a line above the limit csv-line (E0606), a name that occurs twice (E0612), a requested
/// column that the table does not have (E0610).
Result<CsvTable> parseCsv(std::span<const uint8_t> bytes, const std::string &file,
                          const CsvOptions &options = {}, const Limits &limits = {});
Result<CsvTable> loadCsv(const std::string &path, const CsvOptions &options = {},
                         const Limits &limits = {});

} // namespace lstmc::data
