// The parts of the standard library that the headers of kernels use, for NVRTC, which has none. It
// is what <bit>, <cmath> and the others of Headers.cmake are there.
#ifndef LSTMC_STANDARD
#define LSTMC_STANDARD

using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned;
using uint64_t = unsigned long long;
using uintptr_t = unsigned long long;

#define INT64_MAX 9223372036854775807LL
#define INT64_MIN (-INT64_MAX - 1)

#define __builtin_nanf(TEXT) __builtin_bit_cast(float, 0x7fc00000u)
#define __builtin_inff() __builtin_bit_cast(float, 0x7f800000u)
#define __builtin_nan(TEXT) __builtin_bit_cast(double, 0x7ff8000000000000ull)
#define __builtin_inf() __builtin_bit_cast(double, 0x7ff0000000000000ull)
#define NAN __builtin_nanf("")
#define INFINITY __builtin_inff()

namespace std {

template <typename To, typename From> constexpr To bit_cast(const From &from) {
  return __builtin_bit_cast(To, from);
}
constexpr int bit_width(uint64_t x) {
  int bits = 0;
  for (; x; x >>= 1)
    ++bits;
  return bits;
}
constexpr int countl_zero(uint32_t x) { return 32 - bit_width(x); }

template <bool, typename A, typename> struct conditional {
  using type = A;
};
template <typename A, typename B> struct conditional<false, A, B> {
  using type = B;
};
template <bool choice, typename A, typename B>
using conditional_t = typename conditional<choice, A, B>::type;
template <typename A, typename B> inline constexpr bool is_same_v = false;
template <typename A> inline constexpr bool is_same_v<A, A> = true;

template <typename T> struct MadeUnsigned {
  using type = T;
};
template <> struct MadeUnsigned<int8_t> {
  using type = uint8_t;
};
template <> struct MadeUnsigned<int32_t> {
  using type = uint32_t;
};
template <> struct MadeUnsigned<int64_t> {
  using type = uint64_t;
};
template <typename T> using make_unsigned_t = typename MadeUnsigned<T>::type;

template <typename T>
concept floating_point = is_same_v<T, float> || is_same_v<T, double>;
template <typename T>
concept integral = requires(T a) { a % a; };

/// Of integers.
template <typename T> struct numeric_limits {
  static constexpr bool kSigned = T(-1) < T(0);
  static constexpr int digits = int(sizeof(T)) * 8 - (kSigned ? 1 : 0);

  static constexpr T max() { return T(((T(1) << (digits - 1)) - 1) * 2 + 1); }
  static constexpr T min() { return kSigned ? T(-max() - 1) : T(0); }
};

template <typename T, int N> struct array {
  T elements[N];

  constexpr T &operator[](uint64_t i) { return elements[i]; }
  constexpr const T &operator[](uint64_t i) const { return elements[i]; }
};

// Of tables of names, which no kernel reads.
struct string_view {
  constexpr string_view(const char *) {}
  friend constexpr bool operator==(string_view, string_view) { return false; }
};
struct nullopt_t {};
inline constexpr nullopt_t nullopt;
template <typename T> struct optional {
  constexpr optional(nullopt_t) {}
  constexpr optional(T) {}
};

} // namespace std

#endif
