#include "executor/data/SymbolTable.h"

#include <algorithm>
#include <random>

#include "executor/base/Hash.h"

namespace lstmc::data {
namespace {

constexpr int32_t kFree = -1;

/// The hash seed differs in every process, so that nobody can make a file whose strings all
/// collide. Symbols are numbered in order of arrival, so nothing else depends on the seed.
uint64_t slotSeed() {
  static const uint64_t kSeed = std::random_device()();
  return kSeed;
}

} // namespace

std::string_view SymbolTable::operator[](size_t id) const {
  uint64_t begin = id == 0 ? 0 : ends_[id - 1];
  return std::string_view(text_).substr(begin, ends_[id] - begin);
}

size_t SymbolTable::slotOf(std::string_view symbol) const {
  size_t mask = slots_.size() - 1;
  size_t slot = hashBytes(symbol.data(), symbol.size(), slotSeed()) & mask;
  while (slots_[slot] != kFree && (*this)[size_t(slots_[slot])] != symbol)
    slot = (slot + 1) & mask;
  return slot;
}

std::optional<int32_t> SymbolTable::find(std::string_view symbol) const {
  if (slots_.empty() || slots_[slotOf(symbol)] == kFree)
    return std::nullopt;
  return slots_[slotOf(symbol)];
}

std::pair<int32_t, bool> SymbolTable::add(std::string_view symbol) {
  if (4 * (size() + 1) > 3 * slots_.size())
    grow();
  size_t slot = slotOf(symbol);
  if (slots_[slot] != kFree)
    return {slots_[slot], false};
  int32_t id = int32_t(size());
  text_ += symbol;
  ends_.push_back(text_.size());
  slots_[slot] = id;
  return {id, true};
}

void SymbolTable::reserve(size_t symbols, size_t bytes) {
  text_.reserve(bytes);
  ends_.reserve(symbols);
  size_t slots = std::max<size_t>(slots_.size(), 16);
  while (4 * symbols > 3 * slots)
    slots *= 2;
  if (slots > slots_.size())
    resize(slots);
}

void SymbolTable::resize(size_t slots) {
  slots_ = {}; // free the old table before the new one is allocated
  slots_.assign(slots, kFree);
  for (size_t id = 0; id < size(); ++id)
    slots_[slotOf((*this)[id])] = int32_t(id);
}

} // namespace lstmc::data
