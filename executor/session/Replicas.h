// Compares the copies of a parameter on several devices by hashes of their bytes.
#pragma once

#include <string_view>
#include <vector>

#include "executor/base/Status.h"
#include "executor/device/StoredTensor.h"
#include "executor/package/Package.h"
#include "executor/session/BoundEntry.h"

namespace lstmc::session {

/// 64-bit hashes of the copies of every parameter that has more than one.
class Replicas {
public:
  Replicas(const package::Package &package, const Devices &devices);

  /// Hashes the copies on one device; may be called for several devices at once.
  void hash(size_t device);

  /// The results of hash(), and the devices they are of. In a job each rank knows those of its own
  /// devices.
  std::vector<uint64_t> hashes() const;
  std::vector<uint32_t> devices() const;
  void setHashes(const std::vector<uint64_t> &hashes);

  /// E0702 names the first parameter in declared order whose copies differ, the hash on each
  /// device, and `when`.
  Status compare(std::string_view when) const;

private:
  struct Copy {
    uint32_t device;
    StoredTensor value;
    uint64_t hash = 0;
  };
  struct Value {
    const package::Parameter *parameter;
    std::vector<Copy> copies;
  };

  const package::Package &package_;
  std::vector<Value> values_;
};

} // namespace lstmc::session
