// A text, whole or in a file that is read block by block.
#pragma once

#include <concepts>
#include <functional>
#include <string_view>

#include "executor/base/InputFile.h"

namespace lstmc::data {

/// A text that need not be in memory as a whole. Holds neither text nor file, which have to outlive
/// it.
class TextBlocks {
public:
  template <std::convertible_to<std::string_view> Text>
  TextBlocks(const Text &text) : text_(text) {} // implicit: a text is one block
  /// `line`: bytes up to which lines are kept in one block.
  TextBlocks(const InputFile &file, uint64_t line) : file_(&file), line_(line) {}

  /// Calls `take` for one block after the other. A block ends where a line ends, or the text; one
  /// whose first line is longer than `line` bytes ends after as many bytes.
  Status each(const std::function<Status(std::string_view)> &take) const;

private:
  std::string_view text_;
  const InputFile *file_ = nullptr;
  uint64_t line_ = 0;
};

} // namespace lstmc::data
