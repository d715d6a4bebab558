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

/// The unit of a text: what one token is.
enum class TextUnit { Char, Word, Byte };

std::optional<TextUnit> parseTextUnit(std::string_view name);
std::string_view textUnitName(TextUnit unit);

/// The token at the end of each line of a text read by words, as in MXNet's word language model
/// (mxnet.md §8.3).
inline constexpr std::string_view kEndOfLine = "<eos>";

/// Different symbols, numbered from 0.
class Vocabulary {
public:
  explicit Vocabulary(SymbolTable symbols) : symbols_(std::move(symbols)) {}
  /// Reads a file with one symbol per line. \n, \r, \t, \\ and \xNN stand for characters that
  /// cannot be written as themselves. The last line is a symbol even without a line end. E0603 for
  /// an empty line or another escape.
  static Result<Vocabulary> parse(std::string_view text, const std::string &file,
                                  const Limits &limits = {});
  static Result<Vocabulary> load(const std::string &path, const Limits &limits = {});

  size_t size() const { return symbols_.size(); }
  std::string_view symbol(size_t id) const { return symbols_[id]; }
  std::optional<int32_t> find(std::string_view symbol) const { return symbols_.find(symbol); }
  /// A symbol as `parse` reads it: on one line.
  std::string line(size_t id) const;
  /// Text that `parse` reads back.
  std::string text() const;

private:
  SymbolTable symbols_;
};

} // namespace lstmc::data
