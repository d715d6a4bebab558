// One statement, or the heading of one, as lines.
#pragma once

#include <string>

#include "frontend/lnet/text/Tree.h"

namespace lstmc::lnet {

inline constexpr int kFormatColumns = 110;
inline constexpr int kFormatIndent = 4;

class LineFormatter {
public:
  LineFormatter(const SourceFile &file, const Tokens &tokens) : file_(file), tokens_(tokens) {}

  /// Tokens [begin, end) at this indentation. `comment` is the first comment that stands after
  /// token `begin`; those before token `end` are written too.
  std::string format(size_t begin, size_t end, int indentation, size_t comment);

  /// Text with a comment after it. The comment keeps its column if at least two spaces are left
  /// before it.
  std::string withComment(std::string line, const Comment &comment) const;
  std::string commentText(const Comment &comment) const;

private:
  struct Piece {
    std::string text;
    const Token *token = nullptr;
    bool space = false;           ///< before it, unless a line begins here
    std::vector<size_t> comments; ///< before it
  };
  enum class Drop { All, Inner };

  std::vector<Piece> pieces(size_t begin, size_t end, size_t comment, Drop drop) const;
  bool holdsComment(size_t open) const;
  std::string oneLine(const std::vector<Piece> &pieces) const;
  std::string fill(const std::vector<Piece> &pieces, int indentation) const;
  int elementCells(const std::vector<Piece> &pieces, size_t from, bool operators) const;
  std::string tokenText(const Token &token) const;

  const SourceFile &file_;
  const Tokens &tokens_;
};

} // namespace lstmc::lnet
