#include "frontend/lnet/format/Format.h"

#include <algorithm>

#include "frontend/lnet/format/FormatLine.h"
#include "frontend/lnet/format/NeedlessGroups.h"
#include "frontend/lnet/text/Characters.h"
#include "frontend/lnet/text/Parser.h"
#include "frontend/lnet/text/Stack.h"

namespace lstmc::lnet {

namespace {

/// A statement, a heading or a comment on its own line. How many blank lines go before it is
/// decided later.
struct Item {
  std::string text;
  int level = 0;
  int firstLine = 0, lastLine = 0; ///< in the source
  bool comment = false;
  bool def = false;
};

class Formatter {
public:
  Formatter(const SourceFile &file, const Tree &tree)
      : file_(file), tokens_(tree.tokens.tokens), comments_(tree.tokens.comments),
        line_(file, tree.tokens) {}

  std::string run() {
    while (tokens_[at_].kind != TokenKind::End)
      step();
    ownComments(tokens_.size() - 1, 0);
    return join();
  }

private:
  /// Adds the own-line comments before token `end`. The next statement is at level `next`; a
  /// comment belongs to the innermost open block whose indentation it reaches.
  void ownComments(size_t end, size_t next) {
    size_t level = std::max(next, widths_.size() - 1);
    for (; comment_ < comments_.size() && comments_[comment_].nextToken <= end; ++comment_) {
      const Comment &comment = comments_[comment_];
      if (next >= widths_.size() - 1) {
        level = next;
      } else {
        uint32_t column = uint32_t(file_.column(comment.span.begin) - 1);
        while (level > next && widths_[level] > column)
          --level;
      }
      int line = file_.line(comment.span.begin);
      if (!comment.ownLine && !items_.empty()) {
        items_.back().text = line_.withComment(std::move(items_.back().text), comment);
        continue;
      }
      items_.push_back({std::string(level * kFormatIndent, ' ') + line_.commentText(comment),
                        int(level), line, line, true, false});
    }
  }

  void step() {
    // The position of the next statement determines which block the comments before it belong to.
    size_t first = at_;
    size_t level = widths_.size() - 1;
    std::vector<uint32_t> widths = widths_;
    while (tokens_[first].kind == TokenKind::Indent || tokens_[first].kind == TokenKind::Dedent) {
      const Token &token = tokens_[first++];
      if (token.kind == TokenKind::Indent) {
        widths.push_back(token.span.end - token.span.begin);
        ++level;
      } else {
        widths.pop_back();
        --level;
      }
    }
    if (tokens_[first].kind == TokenKind::End) {
      ownComments(first, 0);
      at_ = first;
      return;
    }
    ownComments(first, level);
    widths_ = widths;
    at_ = first;
    statementLine();
  }

  /// One source line of statements: several after `;`, or a heading with its block after it.
  void statementLine() {
    size_t level = widths_.size() - 1;
    while (tokens_[at_].kind != TokenKind::Newline) {
      size_t end = at_;
      while (tokens_[end].kind != TokenKind::Newline && tokens_[end].kind != TokenKind::Semicolon &&
             (end == at_ || tokens_[end - 1].role != TokenRole::BlockColon))
        ++end;
      if (end == at_) {
        ++at_; // a semicolon
        continue;
      }
      Item item;
      item.level = int(level);
      item.def = tokens_[at_].kind == TokenKind::KwDef;
      item.firstLine = file_.line(tokens_[at_].span.begin);
      item.lastLine = file_.line(tokens_[end - 1].span.end);
      item.text = line_.format(at_, end, int(level) * kFormatIndent, comment_);
      while (comment_ < comments_.size() && comments_[comment_].nextToken < end)
        ++comment_;
      items_.push_back(std::move(item));
      if (tokens_[end - 1].role == TokenRole::BlockColon)
        ++level;
      at_ = end;
    }
    for (; comment_ < comments_.size() && comments_[comment_].nextToken == at_; ++comment_)
      items_.back().text = line_.withComment(std::move(items_.back().text), comments_[comment_]);
    ++at_;
  }

  std::string join() {
    std::vector<bool> blank(items_.size() + 1, false);
    for (size_t i = 1; i < items_.size(); ++i)
      blank[i] = items_[i].firstLine > items_[i - 1].lastLine + 1;
    for (size_t i = 0; i < items_.size(); ++i) {
      if (!items_[i].def || items_[i].level != 0)
        continue;
      size_t first = i;
      while (first > 0 && !blank[first] && items_[first - 1].comment &&
             items_[first - 1].level == 0)
        --first;
      blank[first] = first > 0;
      size_t next = i + 1;
      while (next < items_.size() && items_[next].level > 0)
        ++next;
      blank[next] = true;
    }
    std::string text;
    int lines = 0;
    for (size_t i = 0; i < items_.size(); ++i) {
      // A comment that CPython would take for an encoding in the first two lines stays after them.
      int needed = items_[i].comment && declaresEncoding(items_[i].text) ? 2 : 0;
      for (bool more = blank[i]; more || lines < needed; more = false, ++lines)
        text += '\n';
      text += items_[i].text + '\n';
      lines += 1 + int(std::count(items_[i].text.begin(), items_[i].text.end(), '\n'));
    }
    return text;
  }

  const SourceFile &file_;
  const std::vector<Token> &tokens_;
  const std::vector<Comment> &comments_;
  LineFormatter line_;
  std::vector<Item> items_;
  std::vector<uint32_t> widths_{0}; ///< indentations of the open blocks in the source
  size_t at_ = 0, comment_ = 0;
};

} // namespace

Checked<std::string> format(const std::string &path, std::string text, const Limits &limits) {
  if (auto tooLong = checkLength(path, text.size(), limits))
    return *tooLong;
  std::optional<std::string> formatted;
  Problems problems;
  runOnDeepStack([&] {
    SourceFile file(path, std::move(text));
    std::unique_ptr<Tree> tree = parse(file, limits, problems);
    if (problems.any())
      return;
    markNeedlessGroups(*tree);
    formatted = Formatter(file, *tree).run();
  });
  if (!formatted)
    return problems.take(limits.errors, false);
  return std::move(*formatted);
}

} // namespace lstmc::lnet
