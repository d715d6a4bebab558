// Structs of lstmc.h that begin with `size`, the caller's sizeof: the caller's header may be older
// or newer than this library, so its struct may be shorter or longer than ours.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace lstmc::c {

/// Fills the caller's struct as far as both versions know it. `size` keeps its value.
template <typename Struct> void give(Struct ours, Struct *callers) {
  ours.size = callers->size;
  std::memcpy(callers, &ours, std::min(ours.size, sizeof ours));
}

/// Reads the caller's struct; what an older header does not have is 0.
template <typename Struct> Struct taken(const Struct &callers) {
  Struct ours = {};
  std::memcpy(&ours, &callers, std::min(callers.size, sizeof ours));
  return ours;
}

/// Whether a newer header's fields, which this version does not know, are 0.
template <typename Struct> bool restIsZero(const Struct &callers) {
  const auto *bytes = reinterpret_cast<const char *>(&callers);
  return callers.size <= sizeof callers ||
         std::all_of(bytes + sizeof callers, bytes + callers.size, [](char c) { return c == 0; });
}

} // namespace lstmc::c
