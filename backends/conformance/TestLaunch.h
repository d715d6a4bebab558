// A launch that owns its memory: made by a case, copied for every run, compared byte by byte.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "executor/abi/FusedProgram.h"
#include "executor/abi/Scratch.h"
#include "executor/device/Kernel.h"

namespace lstmc::conformance {

/// Bytes between two guard zones, on an alignment of 64 and then `skew` elements off it.
class Storage {
public:
  Storage(DType dtype, int64_t elements, int64_t skew);
  Storage(const Storage &other);
  Storage &operator=(const Storage &) = delete;
  ~Storage();

  DType dtype() const { return dtype_; }
  int64_t elements() const { return elements_; }
  std::byte *data() const;
  /// All of it, guard zones included; begins on the border.
  std::span<std::byte> memory() const;
  /// Whether nothing wrote beside the elements.
  bool guarded() const;
  bool holds(const void *address) const;

private:
  static constexpr int64_t kGuard = 256;
  DType dtype_;
  int64_t elements_, skew_, bytes_;
  std::byte *memory_;
};

/// How a tensor lies in memory.
enum class Layout {
  Dense,
  Skewed,     ///< dense, not aligned to a vector
  Rows,       ///< a gap after every row
  Strided,    ///< every second element
  Transposed, ///< first axis innermost
  Reversed,   ///< all strides negative
};
inline constexpr Layout kAnyLayout[] = {Layout::Dense,   Layout::Skewed,     Layout::Rows,
                                        Layout::Strided, Layout::Transposed, Layout::Reversed};
inline constexpr Layout kRowLayouts[] = {Layout::Dense, Layout::Skewed, Layout::Rows};
std::string_view layoutName(Layout layout);

using Shape = std::vector<int64_t>;
/// The value of element i (row-major).
using Values = std::function<double(uint64_t i)>;

/// From Philox, another series for every salt.
Values uniform(double low, double high, uint64_t salt = 0);
/// Whole numbers from low to high, both included.
Values integers(int64_t low, int64_t high, uint64_t salt = 0);
/// Every second from `uniform(-8, 8)`; between them zeros of both signs, infinities, NaN,
/// denormals, halves, largest values.
Values anything(uint64_t salt = 0);
Values constant(double value);

/// A view and the memory it is of. Copies share the memory.
struct Array {
  std::shared_ptr<Storage> storage;
  Tensor tensor;

  Array() = default; ///< an operand that is absent
  /// Elements are 0xcb bytes: no kernel may read them.
  Array(DType dtype, Shape shape, Layout layout = Layout::Dense);
  Array(DType dtype, Shape shape, const Values &values, Layout layout = Layout::Dense);

  double at(std::initializer_list<int64_t> index) const;
  /// All elements, row-major.
  std::vector<double> values() const;
  /// Axis `axis`, which has one element, repeated by stride 0.
  Array broadcast(int axis, int64_t extent) const;
  /// The view with its axes in another order.
  Array permuted(std::initializer_list<int> axes) const;
  /// Elements [begin, begin + extent) of an axis.
  Array slice(int axis, int64_t begin, int64_t extent) const;
};

class TestLaunch {
public:
  explicit TestLaunch(KernelId id) : id(id) {}

  KernelId id;
  std::vector<Array> operands;
  std::vector<int64_t> ints;
  std::vector<double> floats;
  std::shared_ptr<const FusedProgram> program;

  /// The operand of that name.
  Array &operator[](std::string_view name);
  /// Its own memory, the same contents and the same sharing.
  TestLaunch clone() const;
  std::vector<Tensor> tensors() const;
  /// On one worker, denormals as 0.
  void run(KernelFunction function);

  /// Where the memory of two launches differs, in words; empty where it nowhere does. NaNs are
  /// equal, and what is in `scratch` is nobody's business.
  std::string difference(const TestLaunch &expected) const;
};

/// p of kernel `pack` for w [N, K] or [A, N, K].
Array packed(const Array &w, int64_t gates);

} // namespace lstmc::conformance
