// The checks that make a PackageData trustworthy: one function per part, in the order in which they
// rely on one another. Every error's message is `FIELD: found X, want Y`.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "executor/abi/Sizes.h"
#include "executor/base/Quote.h"
#include "executor/base/Status.h"
#include "executor/package/Package.h"

namespace lstmc::package {

/// Where in the package a check is, as a chain on the stack: text is made for an error alone.
class Path {
public:
  explicit Path(std::string_view name, int64_t index = -1) : name_(name), index_(index) {}
  Path(const Path &parent, std::string_view name, int64_t index = -1)
      : parent_(&parent), name_(name), index_(index) {}

  /// "entries[1].programs[0].launches[12].kernel"
  std::string text() const {
    std::string result = parent_ ? parent_->text() + "." : std::string();
    result += name_;
    if (index_ >= 0)
      result += fmt::format("[{}]", index_);
    return result;
  }

private:
  const Path *parent_ = nullptr;
  std::string_view name_;
  int64_t index_;
};

template <typename... Args>
Error refuse(const Path &path, ErrorCode code, fmt::format_string<Args...> format, Args &&...args) {
  return Error{code, path.text() + ": " + fmt::format(format, std::forward<Args>(args)...), {}};
}

/// E0604 unless index < count; `things` as in "want below 3, the number of buffers".
Status checkIndex(const Path &path, uint64_t index, uint64_t count, std::string_view things);

/// E0604 unless a terminal shows the text as it is (base/PlainText.h): it stands in messages,
/// tables and pictures.
Status checkText(const Path &path, std::string_view text);

/// A view as kernels see it, in numbers that cannot wrap.
struct CheckedView {
  bool present = false;
  DType dtype = DType::F32;
  int rank = 0;
  std::array<int64_t, kMaxRank> shape{};
  std::array<int64_t, kMaxRank> strides{};
  uint32_t buffer = kNoBuffer;
  int64_t offset = 0; ///< elements from the buffer's start to element [0, ...]
  int64_t low = 0;    ///< least element that it touches
  int64_t high = 0;   ///< greatest
  int64_t elements = 1;
};

/// Elements of a view that repeats some by stride 0, where they are more than the arena has bytes:
/// what a launch may be made to read that the file does not ask memory for. A tensor that is only
/// broadcast and reduced is as large at most.
inline constexpr uint64_t kMaxRepeated = uint64_t(1) << 30;

Status checkDevicesAndLocations(const PackageData &data);
/// Every buffer by itself: device, place in the arena, type, kind, life. Needs the above.
Status checkBuffers(const PackageData &data);
/// No two buffers that hold values at the same time share a byte; but where a launch may write its
/// input in place (the record's `out=x`, fused programs), the one that dies in it and the one that
/// is born may.
Status checkLives(const PackageData &data);
/// Every fused program by itself.
Status checkPrograms(const PackageData &data);
/// One launch by itself: kernel, operands, arguments, its kernel's rule. `views` receives its
/// operands.
Status checkLaunch(const PackageData &data, const Launch &launch, const Path &path,
                   std::vector<CheckedView> &views);
/// Every launch in its program: buffers alive, read after written, nothing that persists written
/// before commit.
Status checkEntries(const PackageData &data);
/// Every message between devices: sent once, received once, by ends that fit, in an order in which
/// nobody waits for ever. Needs the above.
Status checkTransfers(const PackageData &data);
/// Launches on several streams: every two that touch the same byte, one writing it, are ordered.
/// Needs the above.
Status checkStreams(const PackageData &data);
/// Names, bindings, parameters, states, packed vectors, metrics.
Status checkNames(const PackageData &data);
/// The entry `init`: writes the copies of parameters and slots, all of them and nothing else. Needs
/// the above.
Status checkInit(const PackageData &data);

/// The kernel's own rule about shapes, types and arguments (KernelRules.cpp).
Status checkKernelRule(const PackageData &data, const Launch &launch, const Path &path,
                       std::span<const CheckedView> views);
/// Whether the kernel has a rule; a test asserts that all have.
bool hasKernelRule(KernelId id);

/// Whether two views touch a common byte. Exact, but for views so contorted that telling would take
/// long; of those it says yes.
bool overlap(const CheckedView &a, uint64_t aByte, const CheckedView &b, uint64_t bByte);

/// Whether no two indices of the view are one element.
bool injective(const CheckedView &view);

/// Equal shapes, strides (where they matter) and element sizes.
bool sameView(const CheckedView &a, const CheckedView &b);

/// Instructions' results alive at once at the worst point of a program, each from where it is made
/// to its last use (one that is stored: to the end). What kMaxFusedLive limits.
int liveValues(const FusedProgram &program);

} // namespace lstmc::package
