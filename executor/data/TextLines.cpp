#include "executor/data/TextLines.h"

#include "executor/base/Quote.h"
#include "executor/data/Elements.h"

namespace lstmc::data {

Result<std::vector<TextLine>> linesOf(const TokenText &tokens, std::optional<int32_t> end) {
  std::vector<TextLine> lines;
  TextLine line;
  auto add = [&] {
    if (line.steps() > 0)
      lines.push_back(line);
    line = {line.first + line.count, 0};
  };
  LSTMC_TRY(tokens.each([&](int64_t, int32_t id) {
    ++line.count;
    if (end && id == *end)
      add();
    return true;
  }));
  add();
  return lines;
}

Result<std::unique_ptr<LineSlots>> lineSlots(const std::vector<InputSlot> &slots, int64_t batch) {
  auto found = std::make_unique<LineSlots>();
  for (const InputSlot &slot : slots)
    if (slot.name == "length" && slot.tensor.elements() == batch)
      found->length = &slot;
    else
      found->others.push_back(slot);
  LSTMC_ASSIGN(found->filled, dataAndLabel(found->others, DataKind::Text));
  if (const InputSlot *label = found->filled.label;
      label && !(label->range && label->range->ignored))
    return fail(ErrorCode::E0605,
                "input {}: found no label that the head ignores, want one, as lines are filled up "
                "to the steps of the input: use_ignore=True, ignore_label=-1",
                inQuotes(label->name));
  return found;
}

LineWriter::LineWriter(const TokenText &tokens, std::shared_ptr<const std::vector<TextLine>> lines,
                       int64_t steps, const LineSlots &slots)
    : tokens_(tokens), lines_(std::move(lines)), steps_(steps), data_(*slots.filled.data) {
  if (slots.filled.label)
    label_ = *slots.filled.label;
  if (slots.length)
    length_ = *slots.length;
}

Status LineWriter::write(int64_t number, int64_t row) {
  const TextLine &line = (*lines_)[size_t(number)];
  if (data_.rows.has(row))
    LSTMC_TRY(write(data_, row, line, 0, 0));
  if (label_ && label_->rows.has(row))
    LSTMC_TRY(write(*label_, row, line, 1, *label_->range->ignored));
  if (length_ && length_->rows.has(row))
    writeElement(length_->tensor.data, length_->tensor.dtype,
                 row * length_->tensor.strides[size_t(length_->batchAxis)], double(line.steps()));
  return {};
}

Status LineWriter::write(const InputSlot &slot, int64_t row, const TextLine &line, int64_t from,
                         int64_t padding) {
  const Tensor &to = slot.tensor;
  const int64_t base = row * to.strides[size_t(slot.batchAxis)];
  const int64_t stepStride = to.rank == 2 ? to.strides[size_t(1 - slot.batchAxis)] : 0;
  read_.resize(size_t(line.steps()));
  LSTMC_TRY(tokens_.read(line.first + from, read_));
  for (int64_t t = 0; t < steps_; ++t)
    writeElement(to.data, to.dtype, base + t * stepStride,
                 t < line.steps() ? int64_t(read_[size_t(t)]) : padding);
  return {};
}

} // namespace lstmc::data
