// The tokens of a file, and what the parser found each to be, which is all that the formatter
// needs.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontend/lnet/text/Source.h"

namespace lstmc::lnet {

// LSTMC_TOKEN(enumerator, spelling). Keywords are Python's 35, including those that the language
// does not use.
// clang-format off: tables, a few entries a line
#define LSTMC_LNET_KEYWORDS(X)                                                                     \
  X(KwFalse, "False") X(KwNone, "None") X(KwTrue, "True") X(KwAnd, "and") X(KwAs, "as")            \
  X(KwAssert, "assert") X(KwAsync, "async") X(KwAwait, "await") X(KwBreak, "break")                \
  X(KwClass, "class") X(KwContinue, "continue") X(KwDef, "def") X(KwDel, "del") X(KwElif, "elif")  \
  X(KwElse, "else") X(KwExcept, "except") X(KwFinally, "finally") X(KwFor, "for")                  \
  X(KwFrom, "from") X(KwGlobal, "global") X(KwIf, "if") X(KwImport, "import") X(KwIn, "in")        \
  X(KwIs, "is") X(KwLambda, "lambda") X(KwNonlocal, "nonlocal") X(KwNot, "not") X(KwOr, "or")      \
  X(KwPass, "pass") X(KwRaise, "raise") X(KwReturn, "return") X(KwTry, "try") X(KwWhile, "while")  \
  X(KwWith, "with") X(KwYield, "yield")

// Longer spellings come first: the lexer takes the first that matches.
#define LSTMC_LNET_OPERATORS(X)                                                                    \
  X(DoubleStarEqual, "**=") X(DoubleSlashEqual, "//=") X(ShiftLeftEqual, "<<=")                    \
  X(ShiftRightEqual, ">>=") X(Ellipsis, "...") X(DoubleStar, "**") X(DoubleSlash, "//")            \
  X(ShiftLeft, "<<") X(ShiftRight, ">>") X(EqualEqual, "==") X(NotEqual, "!=") X(LessEqual, "<=")  \
  X(GreaterEqual, ">=") X(Arrow, "->") X(Walrus, ":=") X(PlusEqual, "+=") X(MinusEqual, "-=")      \
  X(StarEqual, "*=") X(SlashEqual, "/=") X(PercentEqual, "%=") X(AtEqual, "@=") X(AndEqual, "&=")  \
  X(OrEqual, "|=") X(XorEqual, "^=") X(LParen, "(") X(RParen, ")") X(LBracket, "[")                \
  X(RBracket, "]") X(LBrace, "{") X(RBrace, "}") X(Comma, ",") X(Colon, ":") X(Semicolon, ";")     \
  X(Dot, ".") X(Equal, "=") X(Plus, "+") X(Minus, "-") X(Star, "*") X(Slash, "/")                  \
  X(Percent, "%") X(At, "@") X(Less, "<") X(Greater, ">") X(Tilde, "~") X(Ampersand, "&")          \
  X(Bar, "|") X(Caret, "^")
// clang-format on

enum class TokenKind : uint8_t {
  End,
  Newline,
  Indent,
  Dedent,
  Broken, ///< text that was reported already; the parser fails at it without another message
  Name,
  Integer,
  Float,
  String,
#define LSTMC_X(KIND, SPELLING) KIND,
  LSTMC_LNET_KEYWORDS(LSTMC_X) LSTMC_LNET_OPERATORS(LSTMC_X)
#undef LSTMC_X
};

/// Syntactic role of a token, set by the parser; it determines the spaces around it and where a
/// line may break.
enum class TokenRole : uint8_t {
  Plain,
  Unary,         ///< sign: no space after
  Binary,        ///< space on both sides
  Tight,         ///< `**`, `.`, `=` of an argument, `:` of a slice: no space
  Open,          ///< bracket of a call, index or parameter list: no space on either side
  Group,         ///< bracket of a group, tuple, list or dict: no space inside
  NeedlessGroup, ///< redundant round bracket
  Close,         ///< any closing bracket
  NeedlessClose,
  BlockColon,    ///< no space before, a block after
  Colon,         ///< of an annotation, pair or lambda: no space before, one after
  NeedlessComma, ///< after the last element
  Star,          ///< of `*expr`: no space after
};

struct Token {
  TokenKind kind = TokenKind::End;
  TokenRole role = TokenRole::Plain;
  bool firstOnLine = false; ///< of its source line
  Span span;
};

struct Comment {
  Span span;              ///< from `#` to before the line end
  uint32_t nextToken = 0; ///< index of the token that it stands before
  bool ownLine = false;
};

struct Tokens {
  std::vector<Token> tokens; ///< ends with End
  std::vector<Comment> comments;
};

/// The spelling of a keyword or operator; of other kinds what messages call them ("a string").
std::string_view spelling(TokenKind kind);

} // namespace lstmc::lnet
