// A text whose lines are sequences of their own: `text:FILE,lines=yes`.
#pragma once

#include <vector>

#include "executor/data/Sequences.h"
#include "executor/data/TokenText.h"

namespace lstmc::data {

/// The tokens [first, first + count) of a line with its end.
struct TextLine {
  int64_t first = 0, count = 0;
  /// Each token but the last is read, each but the first is a label.
  int64_t steps() const { return count - 1; }
};

/// The lines with a step at least. Errors are those of TokenText::read. `end`: the token at the end
/// of a line; the last line of a text need not have it.
Result<std::vector<TextLine>> linesOf(const TokenText &tokens, std::optional<int32_t> end);

/// The input called length is for the steps of each line; the others are one data input and at most
/// one label.
struct LineSlots {
  DataAndLabel filled;
  const InputSlot *length = nullptr;
  std::vector<InputSlot> others; ///< which `filled` points into
};
Result<std::unique_ptr<LineSlots>> lineSlots(const std::vector<InputSlot> &slots, int64_t batch);

/// A line is filled up with token 0, and with the label that the head ignores.
class LineWriter : public SequenceWriter {
public:
  LineWriter(const TokenText &tokens, std::shared_ptr<const std::vector<TextLine>> lines,
             int64_t steps, const LineSlots &slots);
  Status write(int64_t line, int64_t row) override;

private:
  /// The tokens of a line from its token `from` on, then `padding`.
  Status write(const InputSlot &slot, int64_t row, const TextLine &line, int64_t from,
               int64_t padding);

  const TokenText &tokens_;
  std::shared_ptr<const std::vector<TextLine>> lines_;
  int64_t steps_;
  InputSlot data_;
  std::optional<InputSlot> label_, length_;
  std::vector<int32_t> read_; ///< of one line
};

} // namespace lstmc::data
