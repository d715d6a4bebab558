#include "frontend/lnet/text/TokenReader.h"

#include "frontend/names/Suggestion.h"

namespace lstmc::lnet {

namespace {

/// Statements of Python that the language lacks, and what to write instead, if there is a
/// replacement.
struct RefusedWord {
  TokenKind kind;
  std::string_view help;
};
constexpr RefusedWord kRefusedWords[] = {
    {TokenKind::KwWhile, "for i in range(n):"},
    {TokenKind::KwBreak, "for i in range(n): with the n that is meant"},
    {TokenKind::KwContinue, "if condition: around what follows"},
    {TokenKind::KwClass, "a net is a function: def net(data: float32[N, 10]):"},
    {TokenKind::KwTry, "if condition: before what may fail"},
    {TokenKind::KwExcept, "if condition: before what may fail"},
    {TokenKind::KwFinally, "if condition: before what may fail"},
    {TokenKind::KwRaise, "assert condition, \"message\""},
    {TokenKind::KwGlobal, "give the value as an argument, and return the new one"},
    {TokenKind::KwNonlocal, "give the value as an argument, and return the new one"},
    {TokenKind::KwDel, "delete this line: what is not used is not part of the net"},
    {TokenKind::KwYield, "[x for x in y]"},
    {TokenKind::KwAsync, "def without it: a file is run once, from top to bottom"},
    {TokenKind::KwAwait, "the value without it"},
    {TokenKind::KwImport, "from file import name"},
};

const RefusedWord *refusedWord(TokenKind kind) {
  for (const RefusedWord &word : kRefusedWords)
    if (word.kind == kind)
      return &word;
  return nullptr;
}

/// Help text for an operator of Python that the language lacks; nullopt for other tokens.
std::optional<std::string_view> remedyOfOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::Walrus:
    return "assign on a line before this one";
  case TokenKind::Tilde:
    return "not x; logical_not(x) of a tensor";
  case TokenKind::Ampersand:
    return "x and y; broadcast_logical_and(x, y) of tensors";
  case TokenKind::Bar:
    return "x or y; broadcast_logical_or(x, y) of tensors";
  case TokenKind::Caret:
    return "x ** y is the power; broadcast_logical_xor(x, y) of tensors";
  case TokenKind::ShiftLeft:
    return "x * 2 ** n";
  case TokenKind::ShiftRight:
    return "x // 2 ** n";
  case TokenKind::AndEqual:
  case TokenKind::OrEqual:
  case TokenKind::XorEqual:
  case TokenKind::ShiftLeftEqual:
  case TokenKind::ShiftRightEqual:
    return "";
  case TokenKind::DoubleStarEqual:
    return "x = x ** y";
  case TokenKind::DoubleSlashEqual:
    return "x = x // y";
  case TokenKind::PercentEqual:
    return "x = x % y";
  case TokenKind::AtEqual:
    return "x = x @ y";
  default:
    return std::nullopt;
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
  if (const RefusedWord *word = refusedWord(kind())) {
    std::string help(word->help);
    if (is(TokenKind::KwImport) && kind(1) == TokenKind::Name)
      if (std::string_view ofModule = moduleHelp(text(token(1).span)); !ofModule.empty())
        help = fmt::format("delete this line: {}", ofModule);
    return report(ErrorCode::E0107, token().span,
                  fmt::format("\"{}\" is not part of .lnet", spelling(kind())), std::move(help));
  }
  if (std::optional<std::string_view> remedy = remedyOfOperator(kind()))
    return refuse(token().span, fmt::format("\"{}\"", spelling(kind())), std::string(*remedy));
  if (is(TokenKind::DoubleSlash))
    return report(ErrorCode::E0106, token().span,
                  fmt::format("expected {}, found {}", wanted, found()), "a comment begins with #");
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
