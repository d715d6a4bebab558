// The op that a user wrote, of the launches that carry it out.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/package/PackageData.h"

namespace lstmc::session {

/// Where the user's op is of which a location is: a head's gradient and metric have its place, and
/// no name.
class UserOps {
public:
  explicit UserOps(const package::PackageData &data);

  uint32_t of(const package::Launch &launch) const { return ops_[launch.location]; }

private:
  std::vector<uint32_t> ops_; ///< by location
};

} // namespace lstmc::session
