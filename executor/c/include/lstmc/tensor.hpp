// Tensors of the C++ interface: element types, views, descriptions, and values for inputs.
#ifndef LSTMC_TENSOR_HPP
#define LSTMC_TENSOR_HPP

#include <lstmc/error.hpp>

#include <array>
#include <cassert>
#include <concepts>
#include <cstring>
#include <iterator>
#include <span>
#include <vector>

namespace lstmc {
inline namespace LSTMC_ABI {

enum class DType { F32, F64, F16, BF16, I8, U8, I32, I64, Bool };
static_assert(static_cast<int>(DType::Bool) == LSTMC_BOOL);

/// "f32"
constexpr std::string_view name(DType dtype) noexcept {
  constexpr std::string_view names[] = {"f32", "f64", "f16", "bf16", "i8",
                                        "u8",  "i32", "i64", "bool"};
  const auto index = static_cast<std::size_t>(dtype);
  return index < std::size(names) ? names[index] : "?";
}

/// Bits of IEEE 754's binary16.
struct Half {
  std::uint16_t bits;
};
/// Bits of a bfloat16: the upper half of a float.
struct BFloat16 {
  std::uint16_t bits;
};

namespace detail {

template <typename T> constexpr std::optional<DType> findDType() noexcept {
  constexpr bool number = std::is_integral_v<T> && !std::is_same_v<T, char>;
  if constexpr (std::is_same_v<T, float>)
    return DType::F32;
  else if constexpr (std::is_same_v<T, double>)
    return DType::F64;
  else if constexpr (std::is_same_v<T, Half>)
    return DType::F16;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return DType::BF16;
  else if constexpr (std::is_same_v<T, bool>)
    return DType::Bool;
  else if constexpr (number && sizeof(T) == 1)
    return std::is_signed_v<T> ? DType::I8 : DType::U8;
  else if constexpr (number && std::is_signed_v<T> && sizeof(T) == 4)
    return DType::I32;
  else if constexpr (number && std::is_signed_v<T> && sizeof(T) == 8)
    return DType::I64;
  else
    return std::nullopt;
}

} // namespace detail

/// A type that elements of a tensor have: float, double, Half, BFloat16, bool, 8 bits with or
/// without sign, and integers with sign of 32 and 64 bits.
template <typename T>
concept Element = detail::findDType<std::remove_const_t<T>>().has_value();

template <Element T> inline constexpr DType dtype_of = *detail::findDType<std::remove_const_t<T>>();

/// Neighbouring elements: a vector, an array, a span, a Tensor.
template <typename R>
concept Elements = requires(const R &range) {
  std::data(range);
  std::size(range);
  requires Element<std::remove_cvref_t<decltype(*std::data(range))>>;
};

/// A view of a tensor, row-major without gaps. It does not own its elements: see who returns it for
/// how long they are valid. Indices are checked by assert() alone.
template <Element T> class Tensor {
public:
  /// A tensor without elements.
  Tensor() noexcept = default;
  Tensor(T *data, std::span<const std::int64_t> shape) noexcept : data_(data), rank_(shape.size()) {
    assert(rank_ <= LSTMC_MAX_RANK);
    for (std::size_t axis = 0; axis < rank_; ++axis)
      shape_[axis] = shape[axis];
  }
  /// Makes one of constants from one of variables.
  template <typename U>
    requires std::same_as<T, const U>
  Tensor(const Tensor<U> &other) noexcept : Tensor(other.data(), other.shape()) {}

  /// The extents, outermost first; empty for a scalar.
  std::span<const std::int64_t> shape() const noexcept { return {shape_.data(), rank_}; }
  T *data() const noexcept { return data_; }
  /// Number of elements.
  std::size_t size() const noexcept { return data_ ? count(0) : 0; }
  std::span<T> span() const noexcept { return {data_, size()}; }
  T *begin() const noexcept { return data_; }
  T *end() const noexcept { return data_ + size(); }

  /// One index per extent.
  template <std::integral... Index> T &at(Index... index) const noexcept {
    assert(sizeof...(index) == rank_);
    const std::array<std::int64_t, sizeof...(index)> indices = {
        static_cast<std::int64_t>(index)...};
    std::size_t offset = 0;
    for (std::size_t axis = 0; axis < indices.size(); ++axis)
      offset = offset * extent(axis) + inside(indices[axis], axis);
    return data_[offset];
  }
  /// The part with this index along the first axis.
  Tensor operator[](std::int64_t index) const noexcept {
    assert(rank_ > 0);
    return {data_ + inside(index, 0) * count(1), shape().subspan(1)};
  }
  /// Its elements.
  std::span<T> row(std::int64_t index) const noexcept { return (*this)[index].span(); }

  /// Copies elements in. Status::usage for another number of them.
  Result<void> try_assign(std::span<const std::remove_const_t<T>> from) const noexcept
    requires(!std::is_const_v<T>)
  {
    if (from.size() != size())
      return detail::attempt([&]() -> Result<void> {
        return Error::usage(
            {"found ", std::to_string(from.size()), " values, want ", std::to_string(size())});
      });
    if (!from.empty())
      std::memcpy(data_, from.data(), from.size_bytes());
    return {};
  }
#if LSTMC_EXCEPTIONS
  void assign(std::span<const std::remove_const_t<T>> from) const
    requires(!std::is_const_v<T>)
  {
    try_assign(from).value();
  }
#endif

private:
  std::size_t extent(std::size_t axis) const noexcept {
    return static_cast<std::size_t>(shape_[axis]);
  }
  std::size_t count(std::size_t axis) const noexcept {
    std::size_t elements = 1;
    for (; axis < rank_; ++axis)
      elements *= extent(axis);
    return elements;
  }
  std::size_t inside(std::int64_t index, [[maybe_unused]] std::size_t axis) const noexcept {
    assert(index >= 0 && index < shape_[axis]);
    return static_cast<std::size_t>(index);
  }

  T *data_ = nullptr;
  std::size_t rank_ = 0;
  std::array<std::int64_t, LSTMC_MAX_RANK> shape_ = {};
};

/// Which values an input may have that are positions in something: ids, labels, lengths.
struct Range {
  std::int64_t low = 0, high = 0;        ///< both allowed
  std::optional<std::int64_t> ignored{}; ///< allowed too, and means no position
  bool operator==(const Range &) const = default;
};

/// What is known of a tensor before there is a session.
struct TensorInfo {
  std::string name;
  std::string role; ///< "data", "label", "scalar"; "output", "metric"; "" of what persists
  DType dtype = DType::F32;
  std::vector<std::int64_t> shape;
  std::vector<std::string> dims; ///< names of the extents, "" where there is none
  std::optional<Range> range;    ///< of an input that run() checks
};

namespace detail {

/// "f32[32, 50, 8]"
inline std::string type_text(DType dtype, std::span<const std::int64_t> shape) {
  std::string text(name(dtype));
  text += '[';
  for (std::size_t i = 0; i < shape.size(); ++i)
    text.append(i ? ", " : "").append(std::to_string(shape[i]));
  return text + ']';
}

} // namespace detail

/// A value for an input of run(): its name and its elements, whose memory is borrowed until the
/// call returns (a scalar is kept here).
class Input {
public:
  template <Elements R>
  Input(std::string_view name, const R &values) noexcept
      : name_(name), dtype_(dtype_of<std::remove_cvref_t<decltype(*std::data(values))>>),
        values_(std::data(values)), count_(std::size(values)) {}
  template <Element T>
  Input(std::string_view name, T scalar) noexcept : name_(name), dtype_(dtype_of<T>), count_(1) {
    static_assert(sizeof scalar <= sizeof scalar_);
    std::memcpy(scalar_.data(), &scalar, sizeof scalar);
  }

  /// A tensor whose element type is known at run time.
  Input(std::string_view name, DType dtype, std::span<const std::byte> values) noexcept
      : name_(name), dtype_(dtype), values_(values.data()),
        count_(values.size() / lstmc_dtype_bytes(static_cast<lstmc_dtype>(dtype))) {}

  std::string_view name() const noexcept { return name_; }
  DType dtype() const noexcept { return dtype_; }
  std::size_t size() const noexcept { return count_; }
  std::size_t bytes() const noexcept {
    return count_ * lstmc_dtype_bytes(static_cast<lstmc_dtype>(dtype_));
  }
  const void *data() const noexcept { return values_ ? values_ : scalar_.data(); }

private:
  std::string_view name_;
  DType dtype_;
  const void *values_ = nullptr;
  std::size_t count_;
  std::array<std::byte, 8> scalar_ = {};
};

} // namespace LSTMC_ABI
} // namespace lstmc

#endif
