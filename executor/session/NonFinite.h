// Finds the first number that is not finite and says where it came from.
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

/// The first element in row-major order that is NaN or infinite; nothing for an absent tensor or
/// one of integers.
std::optional<NonFinite> firstNonFinite(const Tensor &tensor);
/// The same for a tensor on a device; `scratch` is that of DeviceTensor::forHost.
std::optional<NonFinite> firstNonFinite(const DeviceTensor &tensor,
                                        std::vector<std::byte> &scratch);

/// The first operand that a launch wrote with such an element; `where` gives its index in the whole
/// batch and in all steps. Workspaces hold no values and `fill` writes what the source asks for, so
/// neither is checked.
struct Finding {
  size_t operand;
  NonFinite where;
  uint32_t location; ///< the launch's, or that of the instruction where it began
};
class FusedInputs;
/// `inputs` kept those of this launch before it ran.
std::optional<Finding> findIn(const package::PackageData &data, const package::Launch &launch,
                              std::span<const DeviceTensor> operands, const FusedInputs &inputs,
                              std::vector<std::byte> &scratch);

/// The diagnostic E0701 for a launch: `first NaN at update 1,041: lstm1 (LSTM), t = 17, output[17,
/// 12, 88]`, the source line, and device, loop values and ranges of the operands as the reason.
/// `when` is "at update 1,041" or "in forward".
Diagnostic describe(const package::PackageData &data, const package::Launch &launch,
                    std::span<const DeviceTensor> operands, const Finding &finding,
                    std::string_view when, std::string_view device);

/// The same for a value from outside: `first NaN at update 1: parameter "w", element [3, 4]`.
Diagnostic describeGiven(const package::Location *location, std::string_view what,
                         std::string_view name, const NonFinite &where, std::string_view when);

/// "fc (FullyConnected)", or the kernel if the op has no name.
std::string opText(const package::PackageData &data, const package::Launch &launch);
std::string opText(const package::Location &location, KernelId kernel);
Place placeOf(const package::Location &location);

/// As an Error with its place.
Error asError(const Diagnostic &diagnostic);

} // namespace lstmc::session
