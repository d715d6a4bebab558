// A text as a sequence of token numbers.
#pragma once

#include <functional>

#include "executor/base/InputFile.h"
#include "executor/data/Vocabulary.h"

namespace lstmc::data {

/// Token numbers with two bytes each if the vocabulary allows it, so that a text takes at most four
/// times the size of its file.
class TokenText {
public:
  explicit TokenText(size_t vocabularySize) : wide_(vocabularySize > 65536) {}
  int64_t size() const { return int64_t(wide_ ? wideIds_.size() : ids_.size()); }
  int32_t operator[](int64_t i) const {
    return wide_ ? wideIds_[size_t(i)] : int32_t(ids_[size_t(i)]);
  }
  void push(int32_t id) {
    if (wide_)
      wideIds_.push_back(id);
    else
      ids_.push_back(uint16_t(id));
  }
  void reserve(size_t tokens) { wide_ ? wideIds_.reserve(tokens) : ids_.reserve(tokens); }

private:
  bool wide_;
  std::vector<uint16_t> ids_;
  std::vector<int32_t> wideIds_;
};

/// Calls `take(token, line, column)`, which returns a Status, for every token of `text`.
///
/// char: code points. byte: bytes of any value. word: text between ASCII blanks, with `<eos>` at
/// the end of each line; the last line need not have a line end. Lines and columns count from 1,
/// columns in code points (byte: in bytes). For char and word, E0603 for NUL or bytes that are not
/// UTF-8, and E0606 for a line above the limit csv-line. E0606 for a word above the limit name.
Status eachToken(std::string_view text, TextUnit unit, const std::string &file,
                 const Limits &limits,
                 const std::function<Status(std::string_view, int, int)> &take);

/// The vocabulary of a text. char and byte: sorted by code. word: most frequent first, then by
/// first appearance.
Result<Vocabulary> makeVocabulary(std::string_view text, TextUnit unit, const std::string &file,
                                  const Limits &limits = {});

/// The token numbers of a text. E0607, with line and column, for a token outside the vocabulary.
Result<TokenText> tokenise(std::string_view text, TextUnit unit, const Vocabulary &vocabulary,
                           const std::string &file, const Limits &limits = {});

} // namespace lstmc::data
