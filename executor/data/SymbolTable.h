// Stores many different strings in little memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lstmc::data {

/// Different strings, numbered from 0 in order of arrival. Needs about 30 bytes per string besides
/// its text; a map of strings needs 100. This matters for a text in which every word is different.
class SymbolTable {
public:
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t id) const;
  std::optional<int32_t> find(std::string_view symbol) const;
  /// Makes room for so many symbols, of so many bytes in all.
  void reserve(size_t symbols, size_t bytes);
  /// The symbol's number, and whether it is new.
  std::pair<int32_t, bool> add(std::string_view symbol);

private:
  size_t slotOf(std::string_view symbol) const;
  void grow() { resize(slots_.empty() ? 16 : 2 * slots_.size()); }
  void resize(size_t slots);

  std::string text_;           ///< all strings, one after the other
  std::vector<uint64_t> ends_; ///< ends of the strings in `text_`
  std::vector<int32_t> slots_; ///< open addressing; the size is a power of two; -1: free
};

} // namespace lstmc::data
