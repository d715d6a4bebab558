// The words in which a kernel's rule about its launch is written.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "executor/abi/ElementWindow.h"
#include "executor/abi/Gate.h"
#include "executor/base/SafeSize.h"
#include "executor/package/Check.h"

namespace lstmc::package {

/// A launch under a rule. Requirements are stated one after the other; the first that does not hold
/// makes the error, and those after it are not looked at. Extents have names, bound by the first
/// shape that has them.
class Rule {
public:
  Rule(const PackageData &data, const Launch &launch, const Path &path,
       std::span<const CheckedView> views)
      : data(data), launch(launch), record(kernelRecord(launch.kernel)), path(path), views(views) {}

  bool ok() const { return !error; }
  Status status() const { return error ? Status(*error) : Status(); }

  bool has(std::string_view operand) const { return views[position(operand)].present; }
  size_t position(std::string_view operand) const { return size_t(record.operand(operand)); }
  /// Operand `member` of repetition `group`.
  size_t position(size_t group, size_t member) const {
    return record.operands.size() + group * record.repeated.size() + member;
  }
  size_t groups() const { return (views.size() - record.operands.size()) / record.repeated.size(); }
  const CheckedView &view(size_t operand) const { return views[operand]; }
  const CheckedView &view(std::string_view operand) const { return views[position(operand)]; }

  /// Axes by name, or a number: "A M K", "4", "" for a scalar. Binds names that are new. Absent
  /// operands hold.
  void shape(size_t operand, std::string_view axes);
  void shape(std::string_view operand, std::string_view axes) { shape(position(operand), axes); }
  void bind(std::string_view name, int64_t extent) { extents.push_back({name, extent}); }
  /// The extent of that name; 1 after an error.
  int64_t extent(std::string_view name) const;
  SafeSize size(std::string_view name) const { return SafeSize(uint64_t(extent(name))); }
  void sameShape(std::string_view operand, std::string_view as);

  /// f32 or f64, the same for all of them that are present.
  void reals(std::initializer_list<std::string_view> operands);
  void real(size_t operand, std::optional<DType> as = std::nullopt);
  void sameType(std::string_view operand, std::string_view as);
  void type(std::string_view operand, DType want);

  void dense(std::string_view operand);
  /// Is aligned to kAlignment.
  void aligned(std::string_view operand);
  /// The last axis is dense.
  void rows(size_t operand);
  void rows(std::string_view operand) { rows(position(operand)); }
  /// A dense vector of so many elements, as `what`, aligned.
  void vectorOf(std::string_view operand, SafeSize elements, std::string_view what);
  /// Dense and aligned, of any type.
  void bytesAtLeast(std::string_view operand, SafeSize bytes);
  /// A matrix [n, k] as abi/Packing.h packs it.
  void packed(std::string_view operand, int64_t matrices, int64_t n, int64_t k, int64_t gates);

  void present(std::string_view operand, std::string_view when);
  void absent(std::string_view operand, std::string_view when);

  /// The argument, within [low, high]; `low` after an error.
  int64_t integer(std::string_view name, int64_t low, int64_t high);
  bool flag(std::string_view name) { return integer(name, 0, 1) != 0; }
  /// One of the values of an enum.
  template <typename Choice> Choice choice(std::string_view name) {
    return Choice(integer(name, 0, int64_t(kLast<Choice>)));
  }
  /// All of them, once those that are asked for above hold; zeros after an error.
  template <typename Arguments> Arguments arguments() const {
    return ok() ? argumentsOf<Arguments>(launch) : Arguments{};
  }
  /// The list after the other ints is empty, or a window (abi/ElementWindow.h) of so many
  /// elements.
  void window(int64_t elements);
  double finite(std::string_view name);
  void positive(std::string_view name);

  /// States the error by hand: for `operands[i].FIELD`.
  template <typename... Args>
  void refuseOperand(size_t operand, std::string_view field, fmt::format_string<Args...> format,
                     Args &&...args) {
    if (ok()) {
      Path at(path, "operands", int64_t(operand));
      error = refuse(Path(at, field), ErrorCode::E0605, "{}",
                     fmt::format(format, std::forward<Args>(args)...) + ofOperand(operand));
    }
  }

  /// The same for another field of the launch.
  template <typename... Args>
  void refuseField(std::string_view field, fmt::format_string<Args...> format, Args &&...args) {
    if (ok())
      error = refuse(Path(path, field), ErrorCode::E0605, format, std::forward<Args>(args)...);
  }

  const PackageData &data;
  const Launch &launch;
  const KernelRecord &record;

private:
  struct Extent {
    std::string_view name;
    int64_t extent;
  };

  const Path &path;
  std::span<const CheckedView> views;
  std::vector<Extent> extents;
  std::optional<Error> error;

  const Extent *find(std::string_view name) const;
  /// " for x of product"
  std::string ofOperand(size_t operand) const;
};

std::string shapeText(const CheckedView &view);

} // namespace lstmc::package
