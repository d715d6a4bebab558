// Many different strings in little memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lstmc::data {

/// Different strings, numbered from 0 in the order in which they come. Costs some 30 bytes a string
/// beside its own, where a map of strings costs 100: a text may be nothing but different words.
class SymbolTable {
public:
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t id) const;
  std::optional<int32_t> find(std::string_view symbol) const;
  /// The symbol's number, and whether it is new.
  std::pair<int32_t, bool> add(std::string_view symbol);

private:
  size_t slotOf(std::string_view symbol) const;
  void grow();

  std::string text_;           ///< all of them, one after the other
  std::vector<uint64_t> ends_; ///< in `text_`
  std::vector<int32_t> slots_; ///< open addressing; a power of two of them; -1: free
};

} // namespace lstmc::data
