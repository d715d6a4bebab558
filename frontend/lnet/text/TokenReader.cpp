#include "frontend/lnet/text/TokenReader.h"

namespace lstmc::lnet {

namespace {

/// Python's statements that are not the language's, and how to write it instead, where there is a
/// way.
struct RefusedWord {
  TokenKind kind;
  std::string_view help;
};
constexpr RefusedWord kRefusedWords[] = {
    {TokenKind::KwWhile, "for i in range(n):"},
    {TokenKind::KwBreak, ""},
    {TokenKind::KwContinue, ""},
    {TokenKind::KwClass, ""},
    {TokenKind::KwTry, ""},
    {TokenKind::KwExcept, ""},
    {TokenKind::KwFinally, ""},
    {TokenKind::KwRaise, "assert condition, \"message\""},
    {TokenKind::KwGlobal, ""},
    {TokenKind::KwNonlocal, ""},
    {TokenKind::KwDel, ""},
    {TokenKind::KwYield, "[x for x in y]"},
    {TokenKind::KwAsync, ""},
    {TokenKind::KwAwait, ""},
    {TokenKind::KwImport, "from file import name"},
};

const RefusedWord *refusedWord(TokenKind kind) {
  for (const RefusedWord &word : kRefusedWords)
    if (word.kind == kind)
      return &word;
  return nullptr;
}

bool isRefusedOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::Walrus:
  case TokenKind::Tilde:
  case TokenKind::Ampersand:
  case TokenKind::Bar:
  case TokenKind::Caret:
  case TokenKind::ShiftLeft:
  case TokenKind::ShiftRight:
  case TokenKind::AndEqual:
  case TokenKind::OrEqual:
  case TokenKind::XorEqual:
  case TokenKind::ShiftLeftEqual:
  case TokenKind::ShiftRightEqual:
  case TokenKind::DoubleStarEqual:
  case TokenKind::DoubleSlashEqual:
  case TokenKind::PercentEqual:
  case TokenKind::AtEqual:
    return true;
  default:
    return false;
  }
}

} // namespace

std::nullptr_t TokenReader::report(ErrorCode code, Span span, std::string message,
                                   std::string help) {
  if (failed_)
    return nullptr;
  failed_ = true;
  Diagnostic diagnostic;
  diagnostic.code = code;
  diagnostic.message = std::move(message);
  diagnostic.place = file_.range(span);
  diagnostic.help = std::move(help);
  problems_.add(std::move(diagnostic));
  return nullptr;
}

bool TokenReader::isRefusedWord() const { return refusedWord(kind()) != nullptr; }

std::string TokenReader::found() const {
  switch (kind()) {
  case TokenKind::End:
  case TokenKind::Newline:
  case TokenKind::Indent:
  case TokenKind::Dedent:
  case TokenKind::String:
    return std::string(spelling(kind()));
  default: {
    std::string_view shown = text(token().span);
    return fmt::format("\"{}\"",
                       shown.size() > 40 ? std::string(shown.substr(0, 40)) + "…" : shown);
  }
  }
}

std::nullptr_t TokenReader::expected(std::string_view wanted) {
  if (is(TokenKind::Broken)) {
    failed_ = true;
    return nullptr;
  }
  if (const RefusedWord *word = refusedWord(kind()))
    return report(ErrorCode::E0107, token().span,
                  fmt::format("\"{}\" is not part of .lnet", spelling(kind())),
                  std::string(word->help));
  if (isRefusedOperator(kind()))
    return refuse(token().span, fmt::format("\"{}\"", spelling(kind())));
  return error(ErrorCode::E0106, token().span, "expected {}, found {}", wanted, found());
}

bool TokenReader::tooDeep(uint64_t height, Span span) {
  report(ErrorCode::E0109, span,
         fmt::format("nested {} deep, the limit is {}", std::min(height, limits_.depth + 1),
                     limits_.depth),
         "--limit depth=N changes the limit");
  return false;
}

} // namespace lstmc::lnet
