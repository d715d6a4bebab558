// Tensors of other libraries in and out, by DLPack: with the types of any dlpack.h, which is not
// included here.
//
//   session.run({lstmc::from_dlpack("data", *managed)});
//   DLManagedTensorVersioned *y =
//   lstmc::to_dlpack<DLManagedTensorVersioned>(session.output<float>("y"));
//   ..
//   y->deleter(y);
#ifndef LSTMC_DLPACK_HPP
#define LSTMC_DLPACK_HPP

#include <lstmc/error.hpp>
#include <lstmc/tensor.hpp>

#include <memory>
#include <new>
#include <vector>

namespace lstmc {
inline namespace LSTMC_ABI {

/// DLManagedTensor or DLManagedTensorVersioned.
template <typename M>
concept DlManaged = requires(M &managed) {
  managed.dl_tensor.data;
  managed.dl_tensor.device.device_type;
  managed.dl_tensor.dtype.lanes;
  managed.dl_tensor.byte_offset;
  managed.manager_ctx;
  managed.deleter;
};

namespace detail {

/// DLPack's code of an element type, which its bits complete.
inline int dl_code(DType dtype) noexcept {
  constexpr int integer = 0, natural = 1, real = 2, brain = 4, boolean = 6;
  switch (dtype) {
  case DType::I8:
  case DType::I32:
  case DType::I64:
    return integer;
  case DType::U8:
    return natural;
  case DType::BF16:
    return brain;
  case DType::Bool:
    return boolean;
  default:
    return real;
  }
}

inline std::optional<DType> dl_dtype(int code, int bits) noexcept {
  for (int i = LSTMC_F32; i <= LSTMC_BOOL; ++i)
    if (dl_code(static_cast<DType>(i)) == code &&
        lstmc_dtype_bytes(static_cast<lstmc_dtype>(i)) * 8 == static_cast<std::size_t>(bits))
      return static_cast<DType>(i);
  return std::nullopt;
}

/// Whether elements are row after row without gaps.
template <typename T> bool dl_is_dense(const T &tensor) noexcept {
  if (!tensor.strides)
    return true;
  std::int64_t width = 1;
  for (auto i = tensor.ndim; i-- > 0; width *= tensor.shape[i])
    if (tensor.shape[i] > 1 && tensor.strides[i] != width)
      return false;
  return true;
}

} // namespace detail

/// A tensor as an input, borrowed for the call that it is given to, which copies it; the caller
/// keeps and deletes it. Status::usage for one on a GPU, with gaps, or of another element type.
template <DlManaged M>
Result<Input> try_from_dlpack(std::string_view name, const M &managed) noexcept {
  return detail::attempt([&]() -> Result<Input> {
    const auto &tensor = managed.dl_tensor;
    constexpr int cpu = 1;
    if (static_cast<int>(tensor.device.device_type) != cpu)
      return Error::usage({"input \"", name, "\": found a tensor of another device (type ",
                           std::to_string(static_cast<int>(tensor.device.device_type)),
                           " of DLPack), want one in memory of the host: copy it"});
    const std::optional<DType> dtype =
        detail::dl_dtype(static_cast<int>(tensor.dtype.code), static_cast<int>(tensor.dtype.bits));
    if (!dtype || tensor.dtype.lanes != 1)
      return Error::usage({"input \"", name, "\": found elements of ",
                           std::to_string(static_cast<int>(tensor.dtype.bits)), " bits and code ",
                           std::to_string(static_cast<int>(tensor.dtype.code)),
                           " of DLPack, which no type of lstmc has"});
    if (!detail::dl_is_dense(tensor))
      return Error::usage({"input \"", name,
                           "\": found strides with gaps, want rows one after the other: copy it"});
    std::size_t count = 1;
    for (decltype(tensor.ndim) i = 0; i < tensor.ndim; ++i)
      count *= static_cast<std::size_t>(tensor.shape[i]);
    const auto *data = static_cast<const std::byte *>(tensor.data) + tensor.byte_offset;
    return Input(name, *dtype, {data, count * lstmc_dtype_bytes(static_cast<lstmc_dtype>(*dtype))});
  });
}

/// A copy of a tensor, which outlives its session: its `deleter` gives the memory back. Null where
/// there is none.
template <DlManaged M, Element T> M *to_dlpack(const Tensor<T> &from) noexcept {
  struct Owned {
    M managed{};
    std::vector<std::int64_t> shape, strides;
    std::vector<std::byte> values;
  };
  std::unique_ptr<Owned> owned(new (std::nothrow) Owned);
  const Result<void> copied = detail::attempt([&]() -> Result<void> {
    if (!owned)
      return Error::make(Status::out_of_memory, "", {"out of memory"});
    const auto *first = reinterpret_cast<const std::byte *>(from.data());
    owned->values.assign(first, first + from.size() * sizeof(T));
    owned->shape.assign(from.shape().begin(), from.shape().end());
    owned->strides.resize(owned->shape.size(), 1);
    for (std::size_t i = owned->shape.size(); i-- > 1;)
      owned->strides[i - 1] = owned->strides[i] * owned->shape[i];
    return {};
  });
  if (!copied)
    return nullptr;
  constexpr DType dtype = dtype_of<std::remove_const_t<T>>;
  M &managed = owned->managed;
  auto &tensor = managed.dl_tensor;
  tensor.data = owned->values.data();
  tensor.device.device_type = static_cast<decltype(tensor.device.device_type)>(1);
  tensor.ndim = static_cast<decltype(tensor.ndim)>(owned->shape.size());
  tensor.dtype.code = static_cast<decltype(tensor.dtype.code)>(detail::dl_code(dtype));
  tensor.dtype.bits = static_cast<decltype(tensor.dtype.bits)>(8 * sizeof(T));
  tensor.dtype.lanes = 1;
  tensor.shape = owned->shape.data();
  tensor.strides = owned->strides.data();
  if constexpr (requires { managed.version.major; })
    managed.version.major = 1;
  managed.deleter = [](M *self) { delete static_cast<Owned *>(self->manager_ctx); };
  managed.manager_ctx = owned.get();
  return &owned.release()->managed;
}

#if LSTMC_EXCEPTIONS
template <DlManaged M> Input from_dlpack(std::string_view name, const M &managed) {
  return try_from_dlpack(name, managed).value();
}
#endif

} // namespace LSTMC_ABI
} // namespace lstmc

#endif
