// What the two halves of the parser share: the tokens, the place in them, and how errors are said.
#pragma once

#include <initializer_list>

#include <fmt/format.h>

#include "frontend/lnet/text/Parser.h"
#include "frontend/lnet/text/Stack.h"

namespace lstmc::lnet {

class Parser {
public:
  Parser(const SourceFile &file, const Limits &limits, Problems &problems)
      : file_(file), limits_(limits), problems_(problems), tree_(std::make_unique<Tree>()) {}
  std::unique_ptr<Tree> run();

private:
  // Statements: Parser.cpp.
  void parseStatement(std::vector<Stmt *> &block);
  void parseSimpleLine(std::vector<Stmt *> &block);
  Stmt *parseSmall();
  Stmt *parseImport();
  Stmt *parseExpressionOrAssignment();
  Stmt *parseAnnotated(Expr *target);
  Stmt *finishAssignment(Expr *left);
  bool parseCompound(std::vector<Stmt *> &block);
  bool parseBlock(Block &block);
  Stmt *parseDef();
  bool parseParameters(std::vector<Parameter> &parameters);
  Stmt *parseFor();
  Stmt *parseIf();
  Stmt *parseWith();
  TypeNode *parseType();
  Expr *parseTargets();
  Expr *parseTarget();
  bool checkTargets(Expr *targets);
  bool refuseStatement();
  void recover(std::vector<Stmt *> &block);
  NameExpr *parseName(std::string_view wanted);

  // Expressions: ParseExpression.cpp.
  Expr *parseExpressions(bool *tuple = nullptr);
  Expr *parseExpr();
  Expr *parseLambda();
  Expr *parseOr();
  Expr *parseAnd();
  Expr *parseNot();
  Expr *parseComparison();
  bool parseCompareOp(CompareTerm &term, bool &found);
  Expr *parseSum();
  Expr *parseProduct();
  Expr *parseFromLeft(ExprKind node, std::initializer_list<TokenKind> signs,
                      Expr *(Parser::*operand)());
  Expr *makeBinary(ExprKind kind, uint32_t begin, Expr *left, TokenKind op, Span opSpan,
                   Expr *right);
  Expr *parseUnary();
  Expr *parsePower();
  Expr *parsePost();
  Expr *parseCall(Expr *callee);
  Expr *parseIndex(Expr *base);
  Expr *parseIndexItem();
  Expr *parseAtom();
  Expr *parseStrings();
  Expr *parseRound();
  Expr *parseSquare();
  Expr *parseCurly();
  Expr *parseComprehension(Expr *element, uint32_t begin);

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
  /// E0106 `expected WANTED, found "="`, once a statement; nothing if what stands here was
  /// reported.
  std::nullptr_t expected(std::string_view wanted);
  bool expect(TokenKind wanted, std::string_view text, TokenRole role = TokenRole::Plain) {
    if (accept(wanted, role))
      return true;
    expected(text);
    return false;
  }
  std::string found() const;
  std::string_view text(Span span) const { return file_.text(span); }

  template <typename... Args>
  std::nullptr_t error(ErrorCode code, Span span, fmt::format_string<Args...> format,
                       Args &&...args) {
    return report(code, span, fmt::format(format, std::forward<Args>(args)...), {});
  }
  std::nullptr_t report(ErrorCode code, Span span, std::string message, std::string help);
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
  /// The node once its children are in place: null and E0109 if it is too high.
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

  /// Guards one level of descent, which may not yet have made a node.
  struct Descent {
    explicit Descent(Parser &parser) : parser(parser) { ++parser.descent_; }
    ~Descent() { --parser.descent_; }
    Parser &parser;
  };
  /// Loose, for brackets and signs descend twice for one node; the height of what is made is what
  /// counts.
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
  uint32_t lastEnd_ = 0;
  uint64_t descent_ = 0;
  int functions_ = 0;
  bool failed_ = false;       ///< this statement was reported
  bool matchRefused_ = false; ///< a `match` was reported, and `case` may follow
  bool droppedHeading_ =
      false; ///< the last heading was refused: what hangs on it is dropped without a word
};

} // namespace lstmc::lnet
