// Whether a function of one of our tables is called as that of a library's header is.
#pragma once

#include <type_traits>

namespace lstmc::cuda {

/// As many parameters, each of the same size and a pointer where theirs is one.
template <typename Ours, typename Theirs> struct SameCall : std::false_type {};
template <typename OurResult, typename... Ours, typename TheirResult, typename... Theirs>
struct SameCall<OurResult (*)(Ours...), TheirResult (*)(Theirs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ours) != sizeof...(Theirs))
      return false;
    else
      return sizeof(OurResult) == sizeof(TheirResult) && // NOLINT(bugprone-sizeof-expression)
             ((sizeof(Ours) == sizeof(Theirs) &&         // NOLINT(bugprone-sizeof-expression)
               std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>) &&
              ...);
  }();
};

template <typename Table, typename Ours, typename Theirs>
constexpr bool agrees(Ours Table::*, Theirs) {
  return SameCall<Ours, Theirs>::value;
}

} // namespace lstmc::cuda
