// The symbols of a text and their numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "executor/base/Limits.h"
#include "executor/base/Status.h"
#include "executor/data/SymbolTable.h"

namespace lstmc::data {

/// What one token of a text is.
enum class TextUnit { Char, Word, Byte };

std::optional<TextUnit> parseTextUnit(std::string_view name);
std::string_view textUnitName(TextUnit unit);

/// Ends each line of a text read by words, as in MXNet's word language model (mxnet.md §8.3).
inline constexpr std::string_view kEndOfLine = "<eos>";

/// Symbols numbered from 0, each once.
class Vocabulary {
public:
  explicit Vocabulary(SymbolTable symbols) : symbols_(std::move(symbols)) {}
  /// A file with a symbol a line. \n, \r, \t, \\ and \xNN stand for the characters that cannot
  /// stand themselves; a last line without end is a symbol too. E0603 for an empty line or another
  /// escape.
  static Result<Vocabulary> parse(std::string_view text, const std::string &file,
                                  const Limits &limits = {});
  static Result<Vocabulary> load(const std::string &path, const Limits &limits = {});

  size_t size() const { return symbols_.size(); }
  std::string_view symbol(size_t id) const { return symbols_[id]; }
  std::optional<int32_t> find(std::string_view symbol) const { return symbols_.find(symbol); }
  /// As `parse` reads it.
  std::string text() const;

private:
  SymbolTable symbols_;
};

} // namespace lstmc::data
