// Shared parts of the parser: the token stream, error messages about tokens, and node creation.
#pragma once

#include <initializer_list>

#include <fmt/format.h>

#include "frontend/lnet/text/Parser.h"
#include "frontend/lnet/text/Stack.h"

namespace lstmc::lnet {

class TokenReader {
public:
  TokenReader(const SourceFile &file, const Limits &limits, Problems &problems)
      : file_(file), limits_(limits), problems_(problems), tree_(std::make_unique<Tree>()) {}

protected:
  // Tokens.
  const Token &token(size_t ahead = 0) const {
    size_t at = std::min(at_ + ahead, tree_->tokens.tokens.size() - 1);
    return tree_->tokens.tokens[at];
  }
  TokenKind kind(size_t ahead = 0) const { return token(ahead).kind; }
  bool is(TokenKind wanted) const { return kind() == wanted; }
  Span take(TokenRole role = TokenRole::Plain) {
    Token &token = tree_->tokens.tokens[at_];
    token.role = role;
    if (token.kind != TokenKind::End)
      ++at_;
    lastEnd_ = token.span.end;
    return token.span;
  }
  bool accept(TokenKind wanted, TokenRole role = TokenRole::Plain) {
    if (!is(wanted))
      return false;
    take(role);
    return true;
  }
  /// E0106 `expected WANTED, found "="`, at most once a statement; no message if this token was
  /// reported already.
  std::nullptr_t expected(std::string_view wanted);
  bool expect(TokenKind wanted, std::string_view text, TokenRole role = TokenRole::Plain) {
    if (accept(wanted, role))
      return true;
    expected(text);
    return false;
  }
  /// A keyword of Python that is not the language's.
  bool isRefusedWord() const;
  std::string found() const;
  std::string_view text(Span span) const { return file_.text(span); }

  template <typename... Args>
  std::nullptr_t error(ErrorCode code, Span span, fmt::format_string<Args...> format,
                       Args &&...args) {
    return report(code, span, fmt::format(format, std::forward<Args>(args)...), {});
  }
  std::nullptr_t report(ErrorCode code, Span span, std::string message, std::string help);
  static constexpr char kNewValue[] = "make a new value: x = x[:1] + [y] + x[2:]";
  /// E0108 `WHAT is not part of .lnet`
  std::nullptr_t refuse(Span span, std::string_view what, std::string help = {}) {
    return report(ErrorCode::E0108, span, fmt::format("{} is not part of .lnet", what),
                  std::move(help));
  }

  // Nodes.
  template <typename T> T *make(ExprKind kind, uint32_t begin) {
    T *node = tree_->make<T>();
    node->kind = kind;
    node->span = {begin, lastEnd_};
    return node;
  }
  template <typename T> T *makeStmt(StmtKind kind, uint32_t begin) {
    T *node = tree_->make<T>();
    node->kind = kind;
    node->span = {begin, lastEnd_};
    return node;
  }
  /// Sets the height of a node from those of its children. Null and E0109 if the tree gets too
  /// high.
  template <typename T, typename... Children> T *raise(T *node, Children... children) {
    uint32_t height = 0;
    ((height = std::max(height, heightOf(children))), ...);
    return setHeight(node, height) ? node : nullptr;
  }
  static uint32_t heightOf(const Expr *child) { return child ? child->height : 0; }
  static uint32_t heightOf(std::span<Expr *> children) {
    uint32_t height = 0;
    for (Expr *child : children)
      height = std::max(height, child->height);
    return height;
  }
  bool setHeight(Expr *node, uint32_t below) {
    node->height = below + 1;
    return node->height <= limits_.depth || tooDeep(node->height, node->span);
  }
  static uint32_t heightOf(Block block) {
    uint32_t height = 0;
    for (Stmt *child : block)
      height = std::max(height, child->height);
    return height;
  }
  bool tooDeep(uint64_t height, Span span);

  /// Counts one level of recursion of the parser, for as long as it lives.
  struct Descent {
    explicit Descent(TokenReader &parser) : parser(parser) { ++parser.descent_; }
    ~Descent() { --parser.descent_; }
    TokenReader &parser;
  };
  /// A generous bound, since brackets and signs recurse more than once for one node: the exact
  /// limit is on the height of nodes.
  bool mayDescend() {
    if (descent_ > 4 * limits_.depth + 1000 || stackIsShort())
      return tooDeep(limits_.depth + 1, token().span);
    return true;
  }

  const SourceFile &file_;
  const Limits &limits_;
  Problems &problems_;
  std::unique_ptr<Tree> tree_;
  size_t at_ = 0;
  uint32_t lastEnd_ = 0; ///< of the token that was taken last
  uint64_t descent_ = 0;
  bool failed_ = false; ///< this statement was reported
};

} // namespace lstmc::lnet
