// A launch that owns its memory. A case makes it; it is copied for every run and compared byte by
// byte.
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

/// Bytes between two guard zones; they begin `skew` elements after a multiple of 64 bytes.
class Storage {
public:
  Storage(DType dtype, int64_t elements, int64_t skew);
  Storage(const Storage &other);
  Storage &operator=(const Storage &) = delete;
  ~Storage();

  DType dtype() const { return dtype_; }
  int64_t elements() const { return elements_; }
  std::byte *data() const;
  /// The whole memory, guard zones included; its start is aligned.
  std::span<std::byte> memory() const;
  /// Whether nothing has written to the guard zones.
  bool guarded() const;
  bool holds(const void *address) const;

private:
  static constexpr int64_t kGuard = 256;
  DType dtype_;
  int64_t elements_, skew_, bytes_;
  std::byte *memory_;
};

/// The memory layout of a tensor.
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

/// Random values from Philox; each salt gives another series.
Values uniform(double low, double high, uint64_t salt = 0);
/// Whole numbers from low to high, both included.
Values integers(int64_t low, int64_t high, uint64_t salt = 0);
/// Every second value from `uniform(-8, 8)`; between them zeros of both signs, infinities, NaN,
/// denormals, halves, and the largest values.
Values anything(uint64_t salt = 0);
/// Of `type`, f32 or f64: denormals, numbers about the smallest normal one, and such whose products
/// are; zeros, and numbers about 1.
Values nearDenormals(DType type, uint64_t salt = 0);
Values constant(double value);

/// A view and its memory. Copies share the memory.
struct Array {
  std::shared_ptr<Storage> storage;
  Tensor tensor;

  Array() = default; ///< an operand that is absent
  /// Elements begin as 0xcb bytes, because no kernel may read them.
  Array(DType dtype, Shape shape, Layout layout = Layout::Dense);
  Array(DType dtype, Shape shape, const Values &values, Layout layout = Layout::Dense);

  double at(std::initializer_list<int64_t> index) const;
  /// All elements, row-major.
  std::vector<double> values() const;
  /// `axis`, which has extent 1, repeated with stride 0.
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
  /// A copy with memory of its own, with the same contents and sharing.
  TestLaunch clone() const;
  /// Such a copy, of whose memory each number of f32 is changed.
  TestLaunch changed(const std::function<float(float)> &change) const;
  std::vector<Tensor> tensors() const;
  /// Runs the kernel on one worker, with denormals treated as 0.
  void run(KernelFunction function);

  /// Describes where the memory of two launches differs; empty if it does not. All NaNs are equal,
  /// and `scratch` is not compared.
  std::string difference(const TestLaunch &expected) const;
};

/// The operand p that kernel `pack` makes from w [N, K] or [A, N, K].
Array packed(const Array &w, int64_t gates);

} // namespace lstmc::conformance
