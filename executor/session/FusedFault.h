// Which op of a fused program made a value that is not finite.
#pragma once

#include <optional>
#include <vector>

#include "executor/device/DeviceTensor.h"
#include "executor/session/NonFinite.h"

namespace lstmc::session {

/// Copies of what a fused program reads, made before it runs, because it may overwrite its inputs.
class FusedInputs {
public:
  /// Keeps the inputs of the launch if its instructions have locations of their own.
  void keep(const package::PackageData &data, const package::Launch &launch,
            std::span<const DeviceTensor> operands);

  struct Origin {
    uint32_t location;
    bool nan; ///< else infinite
  };
  /// Computes the element at `where` again. The first instruction whose value is not finite;
  /// nullopt if nothing was kept for the launch.
  std::optional<Origin> originOf(const package::PackageData &data, const package::Launch &launch,
                                 const NonFinite &where) const;

private:
  const package::Launch *launch_ = nullptr;
  std::vector<std::vector<std::byte>> copies_; ///< per operand, dense; empty for an output
  std::vector<Tensor> operands_;
};

} // namespace lstmc::session
