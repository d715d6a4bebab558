// One source file: its bytes, its lines, and places in it as messages show them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "executor/base/Diagnostic.h"

namespace lstmc::lnet {

/// A range of bytes of one file.
struct Span {
  uint32_t begin = 0;
  uint32_t end = 0;
};

/// Display cells of text that stands at cell `start` (from 0): a tab goes on to the next multiple
/// of 8, wide characters take 2, combining marks 0. A byte that is not UTF-8 takes 1.
int displayCells(std::string_view text, int start = 0);

class SourceFile {
public:
  SourceFile(std::string path, std::string text);
  SourceFile(const SourceFile &) = delete;
  SourceFile &operator=(const SourceFile &) = delete;

  const std::string &path() const { return path_; }
  std::string_view text() const { return text_; }
  std::string_view text(Span span) const {
    return text().substr(span.begin, span.end - span.begin);
  }

  /// From 1.
  int line(uint32_t offset) const;
  /// Display cells, from 1; a byte order mark takes none.
  int column(uint32_t offset) const;
  /// Without its line end.
  std::string_view lineText(int line) const;
  uint32_t lineBegin(int line) const { return lineStarts_[line - 1]; }
  int lineCount() const { return int(lineStarts_.size()); }

  /// The place of a span; one that goes over several lines is underlined to the end of its first.
  /// `text` is left empty for lines of more than 4 KiB, for each node of the graph keeps its place.
  SourceRange range(Span span) const;
  /// `a.lnet:4:5`
  std::string placeText(uint32_t offset) const;

private:
  struct Line;
  /// Columns at every 256th byte of a line that holds more than printable ASCII.
  const std::vector<int> &checkpoints(int line) const;

  std::string path_, text_;
  std::vector<uint32_t> lineStarts_;
  std::vector<bool> plain_; ///< a line of printable ASCII: column = byte + 1
  mutable std::map<int, std::vector<int>> checkpoints_;
};

} // namespace lstmc::lnet
