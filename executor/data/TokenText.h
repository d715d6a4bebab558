// A text as a sequence of token numbers.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "executor/base/ScratchFile.h"
#include "executor/data/TextBlocks.h"
#include "executor/data/Vocabulary.h"

namespace lstmc::data {

/// Token numbers with two bytes each if the vocabulary allows it, so that a text takes at most four
/// times the size of its file.
class TokenText {
public:
  /// `memory`: bytes of numbers above which they are in a file.
  TokenText(size_t vocabularySize, uint64_t memory)
      : width_(vocabularySize > 65536 ? 4 : 2), memory_(memory) {}

  int64_t size() const { return int64_t((filed_ + held_.size()) / width_); }
  /// Errors are those of ScratchFile.
  Status push(int32_t id);
  void reserve(uint64_t tokens) { held_.reserve(std::min(tokens * width_, memory_)); }
  /// Whether reading them means reading a file.
  bool inFile() const { return file_.has_value(); }

  /// The numbers from `begin` on, which have to be there. Errors are those of ScratchFile.
  Status read(int64_t begin, std::span<int32_t> to) const;
  Result<int32_t> at(int64_t token) const;
  /// Calls `take(number, id)` for all tokens in order, until it returns false.
  Status each(const std::function<bool(int64_t, int32_t)> &take) const;

private:
  size_t width_; ///< bytes of a number
  uint64_t memory_;
  std::optional<ScratchFile> file_;
  uint64_t filed_ = 0; ///< bytes in the file; those in `held_` come after them
  Bytes held_;
};

/// Calls `take(token, line, column)`, which returns a Status, for every token of `text`.
///
/// A byte order mark before the first token is none, and a line end of two characters (CR LF) is
/// one token, "\n"; byte: they are as they stand.
///
/// char: code points. byte: bytes of any value. word: text between ASCII blanks, with `<eos>` at
/// the end of each line; the last line need not have a line end. Lines and columns count from 1,
/// columns in code points (byte: in bytes). For char and word, E0603 for NUL or bytes that are not
/// UTF-8, and E0606 for a line above the limit csv-line. E0606 for a word above the limit name.
Status eachToken(const TextBlocks &text, TextUnit unit, const std::string &file,
                 const Limits &limits,
                 const std::function<Status(std::string_view, int, int)> &take);

/// The vocabulary of a text. char and byte: sorted by code. word: most frequent first, then by
/// first appearance.
Result<Vocabulary> makeVocabulary(const TextBlocks &text, TextUnit unit, const std::string &file,
                                  const Limits &limits = {});

/// The token numbers of a text, in memory up to the limit data-memory. E0607, with line and column,
/// for a token outside the vocabulary.
Result<TokenText> tokenise(const TextBlocks &text, TextUnit unit, const Vocabulary &vocabulary,
                           const std::string &file, const Limits &limits = {});

} // namespace lstmc::data
