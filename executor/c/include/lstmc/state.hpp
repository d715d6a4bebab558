// States that a network carries from one run to the next, as a value.
#ifndef LSTMC_STATE_HPP
#define LSTMC_STATE_HPP

#include <lstmc/tensor.hpp>

namespace lstmc {
inline namespace LSTMC_ABI {

/// The states of a session at one moment. Copies are independent; bytes() and from() store them.
/// Session::restore() takes them in any session whose states have the same names, types and shapes.
class State {
public:
  /// The state of a network without states.
  State() = default;

  /// All of it, for a file or a message. Two states have the same bytes if they are equal.
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> bytes;
    append(bytes, kMagic, sizeof kMagic);
    append(bytes, parts_.size());
    for (const Part &part : parts_) {
      append(bytes, part.info.name.size());
      append(bytes, part.info.name.data(), part.info.name.size());
      append(bytes, static_cast<std::uint64_t>(part.info.dtype));
      append(bytes, part.info.shape.size());
      for (std::int64_t extent : part.info.shape)
        append(bytes, static_cast<std::uint64_t>(extent));
      append(bytes, part.values.data(), part.values.size());
    }
    return bytes;
  }

  /// What bytes() gave. Status::bad_file (E0603, E0602) for other bytes.
  static Result<State> try_from(std::span<const std::byte> bytes) noexcept {
    return detail::attempt([bytes]() -> Result<State> {
      Reader reader{bytes};
      if (char magic[sizeof kMagic];
          !reader.read(magic, sizeof magic) || std::memcmp(magic, kMagic, sizeof magic) != 0)
        return Error::make(Status::bad_file, "E0603", {"found other bytes, want those of a state"});
      State state;
      for (std::uint64_t count = reader.number(); count > 0 && reader.whole; --count)
        reader.part(state.parts_);
      if (!reader.whole || !reader.left.empty())
        return Error::make(Status::bad_file, "E0602",
                           {"state: found ", std::to_string(bytes.size()),
                            " bytes, want those that it was stored with"});
      return state;
    });
  }

  /// Names, types and shapes, in the order of the package.
  std::vector<TensorInfo> list() const {
    std::vector<TensorInfo> infos;
    for (const Part &part : parts_)
      infos.push_back(part.info);
    return infos;
  }

  /// Valid as long as this State is not changed. Status::usage for an unknown name or another type.
  template <Element T> Result<Tensor<const T>> try_get(std::string_view name) const noexcept {
    return detail::attempt([&]() -> Result<Tensor<const T>> {
      for (const Part &part : parts_) {
        if (part.info.name != name)
          continue;
        if (part.info.dtype != dtype_of<T>)
          return Error::usage({"state \"", name, "\": found ", lstmc::name(dtype_of<T>), ", want ",
                               lstmc::name(part.info.dtype)});
        return Tensor<const T>(reinterpret_cast<const T *>(part.values.data()), part.info.shape);
      }
      std::string names;
      for (const Part &part : parts_)
        names.append(names.empty() ? "" : ", ").append(part.info.name);
      return Error::usage({"state \"", name, "\": there is none of that name; ",
                           names.empty() ? "there are none" : "there is ", names});
    });
  }

#if LSTMC_EXCEPTIONS
  static State from(std::span<const std::byte> bytes) { return try_from(bytes).value(); }
  template <Element T> Tensor<const T> get(std::string_view name) const {
    return try_get<T>(name).value();
  }
#endif

  bool operator==(const State &other) const { return bytes() == other.bytes(); }

private:
  friend class Session;

  struct Part {
    TensorInfo info;
    std::vector<std::byte> values;
  };

  static constexpr char kMagic[8] = {'l', 's', 't', 'm', 'c', '.', 's', '1'};

  static void append(std::vector<std::byte> &to, const void *from, std::size_t size) {
    const auto *bytes = static_cast<const std::byte *>(from);
    to.insert(to.end(), bytes, bytes + size);
  }
  static void append(std::vector<std::byte> &to, std::uint64_t number) {
    append(to, &number, sizeof number);
  }

  /// Reads what append() wrote; `whole` ends with the first value that is not there or too large.
  struct Reader {
    std::span<const std::byte> left;
    bool whole = true;

    bool read(void *to, std::size_t size) {
      whole = whole && size <= left.size();
      if (!whole)
        return false;
      if (size > 0)
        std::memcpy(to, left.data(), size);
      left = left.subspan(size);
      return true;
    }
    std::uint64_t number() {
      std::uint64_t value = 0;
      read(&value, sizeof value);
      return value;
    }
    /// A size that the bytes that are left may hold, of `each` bytes.
    std::size_t size(std::size_t each) {
      const std::uint64_t value = number();
      whole = whole && value <= left.size() / each;
      return whole ? static_cast<std::size_t>(value) : 0;
    }

    void part(std::vector<Part> &to) {
      Part part;
      part.info.name.resize(size(1));
      read(part.info.name.data(), part.info.name.size());
      const std::uint64_t dtype = number();
      whole = whole && dtype <= static_cast<std::uint64_t>(DType::Bool);
      part.info.dtype = whole ? static_cast<DType>(dtype) : DType::F32;
      part.info.shape.resize(size(sizeof(std::int64_t)));
      whole = whole && part.info.shape.size() <= LSTMC_MAX_RANK;
      std::uint64_t bytes = lstmc_dtype_bytes(static_cast<lstmc_dtype>(part.info.dtype));
      for (std::int64_t &extent : part.info.shape) {
        const std::uint64_t value = number();
        whole = whole && value > 0 && value <= left.size() / bytes;
        bytes *= whole ? value : 1;
        extent = static_cast<std::int64_t>(value);
      }
      part.info.dims.resize(part.info.shape.size());
      part.values.resize(whole && bytes <= left.size() ? static_cast<std::size_t>(bytes) : 0);
      whole = whole && bytes <= left.size();
      read(part.values.data(), part.values.size());
      if (whole)
        to.push_back(std::move(part));
    }
  };

  std::vector<Part> parts_;
};

} // namespace LSTMC_ABI
} // namespace lstmc

#endif
