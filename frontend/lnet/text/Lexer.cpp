#include "frontend/lnet/text/Lexer.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "frontend/lnet/text/Characters.h"

namespace lstmc::lnet {

std::string_view spelling(TokenKind kind) {
  switch (kind) {
  case TokenKind::End:
    return "the end of the file";
  case TokenKind::Newline:
    return "the end of the line";
  case TokenKind::Indent:
    return "an indented line";
  case TokenKind::Dedent:
    return "the end of the block";
  case TokenKind::Broken:
    return "broken text";
  case TokenKind::Name:
    return "a name";
  case TokenKind::Integer:
  case TokenKind::Float:
    return "a number";
  case TokenKind::String:
    return "a string";
#define LSTMC_X(KIND, SPELLING)                                                                    \
  case TokenKind::KIND:                                                                            \
    return SPELLING;
    LSTMC_LNET_KEYWORDS(LSTMC_X)
    LSTMC_LNET_OPERATORS(LSTMC_X)
#undef LSTMC_X
  }
  return "";
}

namespace {

constexpr std::pair<std::string_view, TokenKind> kKeywords[] = {
#define LSTMC_X(KIND, SPELLING) {SPELLING, TokenKind::KIND},
    LSTMC_LNET_KEYWORDS(LSTMC_X)
#undef LSTMC_X
};
constexpr std::pair<std::string_view, TokenKind> kOperators[] = {
#define LSTMC_X(KIND, SPELLING) {SPELLING, TokenKind::KIND},
    LSTMC_LNET_OPERATORS(LSTMC_X)
#undef LSTMC_X
};

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isWord(char c) { return isLetter(c) || isDigit(c); }

TokenKind wordKind(std::string_view word) {
  for (auto &[text, kind] : kKeywords)
    if (word == text)
      return kind;
  return TokenKind::Name;
}

/// Keywords that begin a statement and cannot occur in an expression: if a line inside of an open
/// bracket begins with one, the bracket was never closed.
bool beginsStatement(TokenKind kind) {
  switch (kind) {
  case TokenKind::KwReturn:
  case TokenKind::KwDef:
  case TokenKind::KwAssert:
  case TokenKind::KwPass:
  case TokenKind::KwFrom:
  case TokenKind::KwImport:
  case TokenKind::KwWith:
  case TokenKind::KwWhile:
  case TokenKind::KwClass:
  case TokenKind::KwTry:
  case TokenKind::KwElif:
  case TokenKind::KwBreak:
  case TokenKind::KwContinue:
  case TokenKind::KwGlobal:
  case TokenKind::KwNonlocal:
  case TokenKind::KwDel:
  case TokenKind::KwRaise:
    return true;
  default:
    return false;
  }
}

/// Whether a token may end a value, after which no name can follow.
bool endsValue(TokenKind kind) {
  switch (kind) {
  case TokenKind::Name:
  case TokenKind::Integer:
  case TokenKind::Float:
  case TokenKind::String:
  case TokenKind::Broken:
  case TokenKind::RParen:
  case TokenKind::RBracket:
  case TokenKind::RBrace:
  case TokenKind::KwNone:
  case TokenKind::KwTrue:
  case TokenKind::KwFalse:
    return true;
  default:
    return false;
  }
}

class Lexer {
public:
  Lexer(const SourceFile &file, const Limits &limits, Problems &problems)
      : file_(file), limits_(limits), problems_(problems), text_(file.text()) {}

  Tokens run() {
    if (checkCharacters(file_, problems_)) {
      if (text_.starts_with("\xEF\xBB\xBF"))
        at_ = 3;
      while (at_ < text_.size())
        lexLine();
      if (!open_.empty())
        closeAtEnd();
      endStatement();
      while (indents_.size() > 1) {
        indents_.pop_back();
        push(TokenKind::Dedent, {uint32_t(at_), uint32_t(at_)});
      }
    }
    push(TokenKind::End, {uint32_t(text_.size()), uint32_t(text_.size())});
    return std::move(result_);
  }

private:
  struct Bracket {
    char open;
    uint32_t at;
    size_t token;    ///< index of its token
    size_t comments; ///< how many comments stand before it
  };

  template <typename... Args>
  void error(ErrorCode code, Span span, fmt::format_string<Args...> format, Args &&...args) {
    Diagnostic diagnostic;
    diagnostic.code = code;
    diagnostic.message = fmt::format(format, std::forward<Args>(args)...);
    diagnostic.place = file_.range(span);
    problems_.add(std::move(diagnostic));
  }

  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void push(TokenKind kind, Span span) {
    Token token;
    token.kind = kind;
    token.span = span;
    token.firstOnLine = firstOnLine_;
    firstOnLine_ = false;
    result_.tokens.push_back(token);
    if (kind != TokenKind::Newline && kind != TokenKind::Indent && kind != TokenKind::Dedent)
      inStatement_ = kind != TokenKind::End;
  }
  void broken(Span span) { push(TokenKind::Broken, span); }

  void endStatement() {
    if (!inStatement_)
      return;
    push(TokenKind::Newline, {uint32_t(at_), uint32_t(at_)});
    inStatement_ = false;
  }

  /// Called at a line end; moves to the start of the next line.
  void skipLineEnd() {
    at_ += peek() == '\r' ? 2 : 1;
    firstOnLine_ = true;
  }
  bool atLineEnd() const { return peek() == '\n' || (peek() == '\r' && peek(1) == '\n'); }

  void comment(bool ownLine) {
    size_t begin = at_;
    while (at_ < text_.size() && !atLineEnd())
      ++at_;
    result_.comments.push_back(
        {{uint32_t(begin), uint32_t(at_)}, uint32_t(result_.tokens.size()), ownLine});
  }

  /// From the first byte of a physical line to after its line end.
  void lexLine() {
    firstOnLine_ = true;
    size_t lineBegin = at_;
    while (peek() == ' ' || peek() == '\t')
      ++at_;
    bool blank = at_ >= text_.size() || atLineEnd() || peek() == '#';
    if (!blank && !open_.empty() && isLetter(peek()) && beginsStatementHere(lineBegin))
      reportUnclosed(lineBegin);
    if (!blank && open_.empty() && !continued_)
      indent(lineBegin);
    continued_ = false;
    if (peek() == '#')
      comment(true);
    lexRest();
  }

  /// Inside an open bracket: whether the line cannot belong to it. A line that begins with a
  /// keyword of a statement cannot, nor can one that begins with a name after a value, unless it is
  /// indented deeper than the statement that the bracket is in.
  bool beginsStatementHere(size_t lineBegin) const {
    TokenKind kind = wordKind(wordAhead());
    if (beginsStatement(kind))
      return true;
    return kind == TokenKind::Name && endsValue(result_.tokens.back().kind) &&
           at_ - lineBegin <= statementWidth();
  }
  /// The indentation of the statement that the outermost bracket stands in.
  size_t statementWidth() const {
    size_t first = open_.front().token;
    auto ends = [](TokenKind kind) {
      return kind == TokenKind::Newline || kind == TokenKind::Indent || kind == TokenKind::Dedent;
    };
    while (first > 0 && !ends(result_.tokens[first - 1].kind))
      --first;
    uint32_t statement = result_.tokens[first].span.begin;
    return statement - file_.lineBegin(file_.line(statement));
  }

  std::string_view wordAhead() const {
    size_t end = at_;
    while (end < text_.size() && isWord(text_[end]))
      ++end;
    return text_.substr(at_, end - at_);
  }

  void lexRest() {
    while (at_ < text_.size()) {
      char c = peek();
      if (c == ' ' || c == '\t') {
        ++at_;
      } else if (c == '#') {
        comment(false);
      } else if (atLineEnd()) {
        if (open_.empty())
          endStatement();
        return skipLineEnd();
      } else if (c == '\\') {
        if (backslash())
          return;
      } else {
        lexToken();
      }
    }
  }

  /// True when the line is continued.
  bool backslash() {
    uint32_t begin = uint32_t(at_++);
    bool inLine = inStatement_ || !open_.empty();
    if (!atLineEnd() || !inLine) {
      error(ErrorCode::E0106, {begin, begin + 1}, "expected a token, found \"\\\"");
      broken({begin, begin + 1});
      return false;
    }
    skipLineEnd();
    if (at_ >= text_.size()) {
      error(ErrorCode::E0106, {begin, begin + 1},
            "expected a line after \"\\\", found the end of the file");
      broken({begin, begin + 1});
      return true;
    }
    continued_ = true;
    return true;
  }

  void indent(size_t lineBegin) {
    std::string_view space = text_.substr(lineBegin, at_ - lineBegin);
    if (size_t tab = space.find('\t'); tab != space.npos) {
      uint32_t at = uint32_t(lineBegin + tab);
      error(ErrorCode::E0103, {at, at + 1}, "indent with spaces, found a tab");
    }
    uint32_t width = uint32_t(displayCells(space));
    Span span{uint32_t(lineBegin), uint32_t(at_)};
    if (width > indents_.back()) {
      if (indents_.size() > kMaxIndentations) {
        if (!tooDeep_)
          error(ErrorCode::E0109, span, "indented {} deep, the limit is {}", indents_.size(),
                kMaxIndentations);
        tooDeep_ = true;
        return;
      }
      indents_.push_back(width);
      push(TokenKind::Indent, span);
      firstOnLine_ = true;
      return;
    }
    if (std::find(indents_.begin(), indents_.end(), width) == indents_.end()) {
      std::string blocks;
      for (size_t i = 0; i < indents_.size(); ++i)
        blocks += fmt::format("{}{}",
                              i == 0                     ? ""
                              : i + 1 == indents_.size() ? " or "
                                                         : ", ",
                              indents_[i]);
      error(ErrorCode::E0103, span, "indentation of {} matches no outer block ({})", width, blocks);
    }
    while (indents_.back() > width) {
      indents_.pop_back();
      push(TokenKind::Dedent, {uint32_t(at_), uint32_t(at_)});
      firstOnLine_ = true;
    }
  }

  void lexToken() {
    char c = peek();
    if (isLetter(c))
      return word();
    if (isDigit(c) || (c == '.' && isDigit(peek(1))))
      return number();
    if (c == '"' || c == '\'')
      return string(uint32_t(at_));
    for (auto &[text, kind] : kOperators)
      if (text_.substr(at_, text.size()) == text)
        return symbol(kind, text.size());
    Span span = characterAt(text_, at_);
    if (!mayStandInFile(text_, at_))
      ; // reported by checkCharacters
    else if (static_cast<unsigned char>(c) >= 0x80)
      error(ErrorCode::E0106, span, "expected a token, found \"{}\" (names are ASCII)",
            file_.text(span));
    else
      error(ErrorCode::E0106, span, "expected a token, found \"{}\"", c);
    broken(span);
    at_ = span.end;
  }

  void symbol(TokenKind kind, size_t length) {
    Span span{uint32_t(at_), uint32_t(at_ + length)};
    at_ += length;
    if (kind == TokenKind::LParen || kind == TokenKind::LBracket || kind == TokenKind::LBrace) {
      if (open_.size() >= kMaxBrackets && !tooDeep_) {
        error(ErrorCode::E0109, span, "nested {} deep, the limit is {}", open_.size() + 1,
              kMaxBrackets);
        tooDeep_ = true;
      }
      open_.push_back(
          {text_[span.begin], span.begin, result_.tokens.size(), result_.comments.size()});
    } else if (kind == TokenKind::RParen || kind == TokenKind::RBracket ||
               kind == TokenKind::RBrace) {
      closeBracket(span);
      if (lastBroken_)
        return;
    }
    if (tooDeep_)
      return broken(span);
    push(kind, span);
  }

  void closeBracket(Span span) {
    char close = text_[span.begin];
    lastBroken_ = false;
    if (open_.empty()) {
      error(ErrorCode::E0106, span, "expected no bracket here, found \"{}\"", close);
      broken(span);
      lastBroken_ = true;
      return;
    }
    char wanted = open_.back().open == '(' ? ')' : open_.back().open == '[' ? ']' : '}';
    if (close != wanted) {
      Diagnostic diagnostic;
      diagnostic.code = ErrorCode::E0106;
      diagnostic.message = fmt::format("expected \"{}\", found \"{}\"", wanted, close);
      diagnostic.place = file_.range(span);
      Span opened{open_.back().at, open_.back().at + 1};
      diagnostic.reasons.push_back(
          {fmt::format("\"{}\" was opened at {}", open_.back().open, file_.placeText(opened.begin)),
           file_.range(opened)});
      problems_.add(std::move(diagnostic));
      broken(span);
      lastBroken_ = true;
    }
    open_.pop_back();
  }

  void word() {
    std::string_view word = wordAhead();
    Span span{uint32_t(at_), uint32_t(at_ + word.size())};
    char next = peek(word.size());
    if ((next == '"' || next == '\'') && word.size() <= 2 && isStringPrefix(word)) {
      bool f = word.find_first_of("fF") != word.npos, b = word.find_first_of("bB") != word.npos;
      Diagnostic diagnostic;
      diagnostic.code = ErrorCode::E0105;
      diagnostic.message = fmt::format("{}-strings are not part of .lnet", f   ? "f"
                                                                           : b ? "b"
                                                                               : lower(word));
      diagnostic.place = file_.range(span);
      if (f)
        diagnostic.help = "\"%d\" % i";
      problems_.add(std::move(diagnostic));
      at_ += word.size();
      bool triple = peek(1) == next && peek(2) == next;
      skipString(triple ? 3 : 1, next);
      return broken({span.begin, uint32_t(at_)});
    }
    at_ += word.size();
    if (word.size() > limits_.name) {
      Diagnostic diagnostic;
      diagnostic.code = ErrorCode::E0315;
      diagnostic.message =
          fmt::format("name of {} bytes, the limit is {}", word.size(), limits_.name);
      diagnostic.place = file_.range(span);
      diagnostic.help = "--limit name=N changes the limit";
      problems_.add(std::move(diagnostic));
      return broken(span);
    }
    push(wordKind(word), span);
  }

  static std::string lower(std::string_view text) {
    std::string result(text);
    for (char &c : result)
      c = c >= 'A' && c <= 'Z' ? char(c + 32) : c;
    return result;
  }
  static bool isStringPrefix(std::string_view word) {
    std::string text = lower(word);
    for (std::string_view prefix : {"f", "b", "r", "u", "fr", "rf", "br", "rb"})
      if (text == prefix)
        return true;
    return false;
  }

  void skipString(size_t quotes, char quote) {
    at_ += quotes;
    while (at_ < text_.size()) {
      if (quotes == 1 && atLineEnd())
        return;
      if (peek() == '\\') {
        at_ += peek(1) == '\r' ? 3 : 2;
        continue;
      }
      if (peek() == quote && (quotes == 1 || (peek(1) == quote && peek(2) == quote))) {
        at_ += quotes;
        return;
      }
      ++at_;
    }
    at_ = std::min(at_, text_.size());
  }

  void number();
  void string(uint32_t begin);
  bool escape();
  void closeAtEnd();
  void reportUnclosed(size_t nextStatement);

  const SourceFile &file_;
  const Limits &limits_;
  Problems &problems_;
  std::string_view text_;
  size_t at_ = 0;
  Tokens result_;
  std::vector<uint32_t> indents_{0};
  std::vector<Bracket> open_;
  bool inStatement_ = false, firstOnLine_ = true, continued_ = false, tooDeep_ = false,
       lastBroken_ = false;
};

void Lexer::number() {
  uint32_t begin = uint32_t(at_);
  bool isFloat = false, wrong = false;
  auto digits = [&](auto isOne) {
    size_t from = at_;
    while (at_ < text_.size() && (isOne(peek()) || peek() == '_')) {
      // An underscore stands between two digits; one after 0x too.
      if (peek() == '_' && (!isOne(peek(1)) || (at_ > 0 && text_[at_ - 1] == '_') || at_ == begin))
        wrong = true;
      ++at_;
    }
    return at_ > from;
  };
  char base = peek() == '0' ? char(peek(1) | 0x20) : '\0';
  if (base == 'x' || base == 'b' || base == 'o') {
    at_ += 2;
    bool some = digits([&](char c) {
      char l = char(c | 0x20);
      return base == 'x'   ? isDigit(c) || (l >= 'a' && l <= 'f')
             : base == 'b' ? c == '0' || c == '1'
                           : c >= '0' && c <= '7';
    });
    wrong |= !some;
  } else {
    if (peek() != '.')
      digits(isDigit);
    if (peek() == '.') {
      isFloat = true;
      ++at_;
      wrong |= peek() == '_';
      digits(isDigit);
    }
    size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
    if ((peek() == 'e' || peek() == 'E') && isDigit(peek(sign))) {
      isFloat = true;
      at_ += sign;
      digits(isDigit);
    }
    if (!isFloat && at_ - begin > 1 && text_[begin] == '0')
      wrong = true;
  }
  if (isWord(peek())) {
    wrong = true;
    while (isWord(peek()))
      ++at_;
  }
  Span span{begin, uint32_t(at_)};
  std::string_view text = file_.text(span);
  if (wrong) {
    error(ErrorCode::E0104, span, "{} is not a number", text);
    return broken(span);
  }
  // The parser takes -2^63, and refuses 2^63 after a minus that subtracts.
  const bool negated = !result_.tokens.empty() && result_.tokens.back().kind == TokenKind::Minus;
  if (!isFloat && !integerValue(text) && !(negated && isNegatedLeast(text))) {
    error(ErrorCode::E0104, span, "{} does not fit in 64 bits", text);
    return broken(span);
  }
  if (isFloat && floatValue(text) - floatValue(text) != 0) {
    error(ErrorCode::E0104, span, "{} is not finite", text);
    return broken(span);
  }
  push(isFloat ? TokenKind::Float : TokenKind::Integer, span);
}

/// Called at a backslash in a string; moves to the end of the escape. False if there is no such
/// escape.
bool Lexer::escape() {
  uint32_t begin = uint32_t(at_);
  char c = peek(1);
  if (c == '\\' || c == '\'' || c == '"' || c == 'n' || c == 't' || c == '\n') {
    at_ += 2;
    return true;
  }
  if (c == '\r' && peek(2) == '\n') {
    at_ += 3;
    return true;
  }
  if (c == 'u') {
    uint32_t value = 0;
    size_t digits = 0;
    for (; digits < 4; ++digits) {
      char d = peek(2 + digits), l = char(d | 0x20);
      if (!isDigit(d) && !(l >= 'a' && l <= 'f'))
        break;
      value = value * 16 + uint32_t(isDigit(d) ? d - '0' : l - 'a' + 10);
    }
    at_ += 2 + digits;
    Span span{begin, uint32_t(at_)};
    if (digits < 4) {
      error(ErrorCode::E0105, span, "\\u takes four hexadecimal digits");
      return false;
    }
    if (value >= 0xD800 && value <= 0xDFFF) {
      error(ErrorCode::E0105, span, "{} is half of a surrogate pair", file_.text(span));
      return false;
    }
    return true;
  }
  ++at_;
  if (at_ >= text_.size())
    return true; // the string has no end; its caller reports that
  Span next = characterAt(text_, at_);
  error(ErrorCode::E0105, {begin, next.end}, "unknown escape \\{}", file_.text(next));
  at_ = next.end;
  return false;
}

void Lexer::string(uint32_t begin) {
  char quote = peek();
  size_t quotes = peek(1) == quote && peek(2) == quote ? 3 : 1;
  at_ += quotes;
  bool good = true;
  while (true) {
    if (at_ >= text_.size() || (quotes == 1 && atLineEnd())) {
      at_ = std::min(at_, text_.size());
      error(ErrorCode::E0102, {begin, begin + uint32_t(quotes)}, "string is never closed");
      return broken({begin, uint32_t(at_)});
    }
    if (peek() == '\\') {
      good &= escape();
      continue;
    }
    if (peek() == quote && (quotes == 1 || (peek(1) == quote && peek(2) == quote)))
      break;
    ++at_;
  }
  at_ += quotes;
  Span span{begin, uint32_t(at_)};
  if (!good)
    return broken(span);
  push(TokenKind::String, span);
}

/// Reports that the innermost open bracket is never closed, and continues at the line that begins
/// the next statement.
void Lexer::reportUnclosed(size_t nextStatement) {
  Bracket bracket = open_.back();
  Diagnostic diagnostic;
  diagnostic.code = ErrorCode::E0102;
  diagnostic.message = fmt::format("\"{}\" is never closed", bracket.open);
  diagnostic.place = file_.range({bracket.at, bracket.at + 1});
  if (nextStatement < text_.size()) {
    uint32_t first = uint32_t(text_.find_first_not_of(' ', nextStatement));
    diagnostic.reasons.push_back(
        {fmt::format("the next statement begins at {}", file_.placeText(first)),
         file_.range({first, first + 1})});
  }
  problems_.add(std::move(diagnostic));
  size_t keep = bracket.token;
  while (keep < result_.tokens.size() && result_.tokens[keep].span.begin < nextStatement)
    ++keep;
  result_.tokens.resize(keep);
  while (!result_.comments.empty() && result_.comments.back().span.begin >= nextStatement)
    result_.comments.pop_back();
  open_.clear();
  broken({bracket.at, bracket.at + 1});
  inStatement_ = true;
  endStatement();
  firstOnLine_ = true;
}

/// The file ended inside an open bracket. The next statement is assumed to begin at the first later
/// line that is not indented deeper than this statement and does not begin with a closing bracket.
void Lexer::closeAtEnd() {
  while (!open_.empty()) {
    uint32_t at = open_.back().at;
    int line = file_.line(at);
    size_t width = statementWidth();
    size_t next = text_.size();
    for (int i = line + 1; i <= file_.lineCount() && problems_.errors() < limits_.errors; ++i) {
      std::string_view text = file_.lineText(i);
      size_t begin = text.find_first_not_of(" \t");
      if (begin == text.npos || text[begin] == '#' || text[begin] == ')' || text[begin] == ']' ||
          text[begin] == '}')
        continue;
      if (begin <= width) {
        next = file_.lineBegin(i);
        break;
      }
    }
    reportUnclosed(next);
    at_ = next;
    while (at_ < text_.size())
      lexLine();
  }
}

} // namespace

Tokens lex(const SourceFile &file, const Limits &limits, Problems &problems) {
  return Lexer(file, limits, problems).run();
}

namespace {

std::optional<uint64_t> magnitude(std::string_view token) {
  unsigned base = 10;
  if (token.size() > 2 && token[0] == '0' && !isDigit(token[1]) && token[1] != '_') {
    char mark = char(token[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'o' ? 8 : 2;
    token.remove_prefix(2);
  }
  uint64_t value = 0;
  for (char c : token) {
    if (c == '_')
      continue;
    int digit = isDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
    if (__builtin_mul_overflow(value, uint64_t(base), &value) ||
        __builtin_add_overflow(value, uint64_t(digit), &value))
      return std::nullopt;
  }
  return value;
}

} // namespace

std::optional<int64_t> integerValue(std::string_view token) {
  const std::optional<uint64_t> value = magnitude(token);
  return value && *value <= uint64_t(INT64_MAX) ? std::optional(int64_t(*value)) : std::nullopt;
}

bool isNegatedLeast(std::string_view token) { return magnitude(token) == uint64_t(INT64_MAX) + 1; }

} // namespace lstmc::lnet
