#include "executor/data/TextBlocks.h"

#include <algorithm>

namespace lstmc::data {

/// Bytes that are read at once.
constexpr uint64_t kBlock = 1 << 20;

Status TextBlocks::each(const std::function<Status(std::string_view)> &take) const {
  if (!file_)
    return text_.empty() ? Status() : take(text_);
  Bytes block;
  uint64_t kept = 0; // bytes at the beginning of `block` that no call has had
  for (uint64_t at = 0; at < file_->bytes() || kept > 0;) {
    uint64_t more = std::min(kBlock, file_->bytes() - at);
    block.resize(kept + more);
    LSTMC_TRY(file_->read(at, std::span(block).subspan(kept)));
    at += more;
    std::string_view text = asText(block);
    size_t end = text.rfind('\n');
    size_t length = at == file_->bytes()            ? text.size()
                    : end != std::string_view::npos ? end + 1
                    : text.size() > line_           ? text.size()
                                                    : 0;
    if (length > 0)
      LSTMC_TRY(take(text.substr(0, length)));
    kept = block.size() - length;
    std::copy(block.begin() + int64_t(length), block.end(), block.begin());
  }
  return {};
}

} // namespace lstmc::data
