// Finding the first number that is none, and saying where it came from.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "executor/base/Diagnostic.h"
#include "executor/base/Tensor.h"
#include "executor/device/DeviceTensor.h"
#include "executor/package/Package.h"

namespace lstmc::session {

struct NonFinite {
  bool nan; ///< else infinite
  int rank;
  std::array<int64_t, kMaxRank> index;
};

/// The first element, row-major, that is NaN or infinite; none in a tensor that is absent or of
/// integers.
std::optional<NonFinite> firstNonFinite(const Tensor &tensor);
/// The same of what a device has; `scratch` as DeviceTensor::forHost takes it.
std::optional<NonFinite> firstNonFinite(const DeviceTensor &tensor,
                                        std::vector<std::byte> &scratch);

/// What a launch wrote: the first written operand with such an element, which `where` names as one
/// of the whole batch and of all steps. Workspaces hold no values, and `fill` writes what the
/// source asks for: neither is looked at.
struct Finding {
  size_t operand;
  NonFinite where;
};
std::optional<Finding> findIn(const package::PackageData &data, const package::Launch &launch,
                              std::span<const DeviceTensor> operands,
                              std::vector<std::byte> &scratch);

/// The diagnostic E0701 for a launch: `first NaN at update 1,041: lstm1 (LSTM), t = 17, output[17,
/// 12, 88]`, the source line, and device, loop values and ranges of the operands as the reason.
/// `when` is "at update 1,041" or "in forward".
Diagnostic describe(const package::PackageData &data, const package::Launch &launch,
                    std::span<const DeviceTensor> operands, const Finding &finding,
                    std::string_view when, std::string_view device);

/// The same for a value that was given: `first NaN at update 1: parameter "w", element [3, 4]`.
Diagnostic describeGiven(const package::Location *location, std::string_view what,
                         std::string_view name, const NonFinite &where, std::string_view when);

/// "fc (FullyConnected)", or the kernel where the op has no name.
std::string opText(const package::PackageData &data, const package::Launch &launch);
Place placeOf(const package::Location &location);

/// As an Error with its place.
Error asError(const Diagnostic &diagnostic);

} // namespace lstmc::session
