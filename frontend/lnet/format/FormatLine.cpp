#include "frontend/lnet/format/FormatLine.h"

#include <algorithm>

namespace lstmc::lnet {

namespace {

bool opens(const Token &token) {
  return token.kind == TokenKind::LParen || token.kind == TokenKind::LBracket ||
         token.kind == TokenKind::LBrace;
}
bool closes(const Token &token) {
  return token.kind == TokenKind::RParen || token.kind == TokenKind::RBracket ||
         token.kind == TokenKind::RBrace;
}

bool spaceBetween(const Token &before, const Token &token) {
  bool number = before.kind == TokenKind::Integer || before.kind == TokenKind::Float;
  if (token.kind == TokenKind::Dot && number)
    return true; // `1 .x` is no float
  if (before.kind == TokenKind::Comma && token.role == TokenRole::Tight)
    return true; // a slice without its begin
  if (token.role == TokenRole::Tight || before.role == TokenRole::Tight)
    return before.kind == TokenKind::KwFrom || token.kind == TokenKind::KwImport;
  if (before.role == TokenRole::Unary || before.role == TokenRole::Star || opens(before))
    return false;
  switch (token.role) {
  case TokenRole::Open:
  case TokenRole::BlockColon:
  case TokenRole::Colon:
  case TokenRole::NeedlessComma:
    return false;
  default:
    return !closes(token) && token.kind != TokenKind::Comma;
  }
}

int lastLineCells(std::string_view text) {
  size_t line = text.rfind('\n');
  return displayCells(line == text.npos ? text : text.substr(line + 1));
}

} // namespace

std::string LineFormatter::tokenText(const Token &token) const {
  std::string text;
  for (char c : file_.text(token.span))
    if (c != '\r')
      text += c;
  if (token.kind != TokenKind::String || text[0] == '"' || text.find('"') != text.npos)
    return text;
  size_t quotes = text.size() >= 6 && text[1] == '\'' && text[2] == '\'' ? 3 : 1;
  for (size_t i = 0; i < quotes; ++i)
    text[i] = text[text.size() - 1 - i] = '"';
  return text;
}

std::string LineFormatter::commentText(const Comment &comment) const {
  std::string text(file_.text(comment.span));
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
    text.pop_back();
  return text;
}

std::string LineFormatter::withComment(std::string line, const Comment &comment) const {
  int cells = lastLineCells(line);
  int column = file_.column(comment.span.begin) - 1;
  line.append(std::max(2, column - cells), ' ');
  return line + commentText(comment);
}

/// Whether a comment stands in the brackets that open at this token.
bool LineFormatter::holdsComment(size_t open) const {
  auto at = std::partition_point(tokens_.comments.begin(), tokens_.comments.end(),
                                 [&](const Comment &c) { return c.nextToken <= open; });
  if (at == tokens_.comments.end())
    return false;
  size_t depth = 0;
  for (size_t i = open; i < at->nextToken; ++i) {
    depth += opens(tokens_.tokens[i]);
    depth -= closes(tokens_.tokens[i]);
    if (depth == 0)
      return false;
  }
  return true;
}

std::vector<LineFormatter::Piece> LineFormatter::pieces(size_t begin, size_t end, size_t comment,
                                                        Drop drop) const {
  std::vector<Piece> pieces;
  std::vector<bool> kept; // of the open brackets
  size_t depth = 0;       // of those that are kept
  for (size_t i = begin; i < end; ++i) {
    const Token &token = tokens_.tokens[i];
    std::vector<size_t> comments;
    for (; comment < tokens_.comments.size() && tokens_.comments[comment].nextToken == i; ++comment)
      comments.push_back(comment);
    bool keep = token.role != TokenRole::NeedlessComma;
    if (opens(token)) {
      keep = token.role != TokenRole::NeedlessGroup || holdsComment(i) ||
             (drop == Drop::Inner && depth == 0);
      kept.push_back(keep);
      depth += keep;
    } else if (closes(token)) {
      keep = kept.back();
      kept.pop_back();
      depth -= keep;
    }
    if (!comments.empty() && !keep) {
      // The trailing comma is dropped: a comment before it moves to the next token.
      pieces.push_back({"", &token, false, std::move(comments)});
      continue;
    }
    if (!keep)
      continue;
    Piece piece{tokenText(token), &token, false, std::move(comments)};
    if (!pieces.empty())
      piece.space = spaceBetween(*pieces.back().token, token);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

std::string LineFormatter::oneLine(const std::vector<Piece> &pieces) const {
  std::string line;
  for (const Piece &piece : pieces) {
    if (piece.space)
      line += ' ';
    line += piece.text;
  }
  return line;
}

/// Cells from a piece to the next place where a line may break in the bracket that it stands in, or
/// to the end of the line if the bracket closes before.
int LineFormatter::elementCells(const std::vector<Piece> &pieces, size_t from,
                                bool operators) const {
  int cells = 0, depth = 0;
  for (size_t i = from; i < pieces.size(); ++i) {
    const Token &token = *pieces[i].token;
    if (i > from && !pieces[i].comments.empty())
      break;
    size_t lineEnd = pieces[i].text.find('\n');
    cells += (i > from && pieces[i].space) +
             displayCells(std::string_view(pieces[i].text).substr(0, lineEnd));
    if (lineEnd != std::string::npos)
      break;
    depth += opens(token);
    depth -= closes(token);
    bool mayBreak = token.kind == TokenKind::Comma ||
                    (operators && depth == 0 && token.role == TokenRole::Binary);
    if (depth <= 0 && mayBreak)
      break;
  }
  return cells;
}

std::string LineFormatter::fill(const std::vector<Piece> &pieces, int indentation) const {
  struct Bracket {
    int column;     ///< of what stands in it
    bool operators; ///< lines may break after operators too
  };
  std::string text(indentation, ' ');
  std::vector<Bracket> open;
  const Token *before = nullptr;
  auto breakLine = [&] {
    text += '\n' + std::string(open.empty() ? indentation : open.back().column, ' ');
  };
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Piece &piece = pieces[i];
    bool broken = false;
    for (size_t index : piece.comments) {
      const Comment &comment = tokens_.comments[index];
      if (comment.ownLine) {
        if (!broken)
          breakLine();
        text += commentText(comment);
      } else {
        text = withComment(std::move(text), comment);
      }
      breakLine();
      broken = true;
    }
    if (!broken && before) {
      bool mayBreak =
          !open.empty() && (before->kind == TokenKind::Comma ||
                            (open.back().operators && before->role == TokenRole::Binary));
      if (mayBreak) {
        int cells = elementCells(pieces, i, open.back().operators);
        int column = lastLineCells(text);
        if (column + piece.space + cells > kFormatColumns && column > open.back().column) {
          breakLine();
          broken = true;
        }
      }
    }
    if (piece.space && !broken)
      text += ' ';
    text += piece.text;
    if (piece.text.empty())
      continue;
    before = piece.token;
    if (opens(*piece.token)) {
      bool operators =
          piece.token->kind == TokenKind::LParen && piece.token->role != TokenRole::Open;
      open.push_back({lastLineCells(text), operators});
    } else if (closes(*piece.token)) {
      open.pop_back();
    }
  }
  return text;
}

std::string LineFormatter::format(size_t begin, size_t end, int indentation, size_t comment) {
  std::vector<Piece> line = pieces(begin, end, comment, Drop::All);
  bool plain =
      std::none_of(line.begin(), line.end(), [](const Piece &p) { return !p.comments.empty(); });
  std::string text = std::string(indentation, ' ') + oneLine(line);
  size_t first = text.find('\n');
  if (displayCells(std::string_view(text).substr(0, first)) <= kFormatColumns && plain)
    return text;
  return fill(pieces(begin, end, comment, Drop::Inner), indentation);
}

} // namespace lstmc::lnet
