// The cells of a table in CSV, one after the other.
#pragma once

#include <string>
#include <string_view>

#include "executor/base/Limits.h"
#include "executor/data/StoredBytes.h"

namespace lstmc::data {

struct CsvCell {
  std::string_view text; ///< valid until the next cell is read
  int line = 1, column = 1;
  bool last = false; ///< the last cell of its line
};

/// Reads cells of `bytes` (parseCsv says which are refused), a block of a file at a time and never
/// less than a cell. Names errors by `file`; both it and the limits have to outlive the reader.
class CsvCells {
public:
  CsvCells(StoredBytes bytes, const std::string &file, const Limits &limits)
      : bytes_(std::move(bytes)), file_(&file), limits_(&limits) {}
  CsvCells(const CsvCells &) = delete;
  CsvCells &operator=(const CsvCells &) = delete;

  /// Goes to the first cell. To be called before anything else.
  Status begin();
  bool atEnd() const { return at_.position >= text_.size(); }
  int line() const { return at_.line; }
  /// The next cell; there has to be one. Not to be called again after an error.
  Result<CsvCell> next();

private:
  /// Positions are in `text_`; those before it, in a line that began there, are negative.
  struct At {
    size_t position = 0;
    int64_t lineBegin = 0;
    int64_t counted = 0; ///< the position that `column` belongs to
    int line = 1, column = 1;
  };

  /// The cell at `at_`, or, with `cut_` set, one that may go on after the end of `text_`.
  Result<CsvCell> scan();
  Status unquoted(CsvCell &cell);
  Status quoted(CsvCell &cell);
  Status checkText(const CsvCell &cell) const;
  Status checkLine(size_t end, const CsvCell &cell) const;
  /// Reads more text, and leaves out what comes before `at_`.
  Status readOn();
  bool isWhole() const { return read_ == bytes_.size(); }
  int column();
  void newLine(size_t end) {
    ++at_.line;
    at_.lineBegin = int64_t(end) + 1;
  }

  StoredBytes bytes_;
  const std::string *file_;
  const Limits *limits_;
  std::string_view text_; ///< all of the bytes in memory; of a file, what `block_` has
  Bytes block_;
  uint64_t read_ = 0; ///< the end of `text_` in `bytes_`
  At at_;
  bool cut_ = false;
  std::string quotedText_; ///< of the last cell, without its quotes
};

} // namespace lstmc::data
