// The scalar inputs of an entry as the caller gives them, and as a run then has them.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "executor/base/Status.h"
#include "executor/base/Tensor.h"
#include "executor/session/BoundEntry.h"
#include "executor/session/UpdateScalars.h"

namespace lstmc::session {

/// Scalars are kept on the host and written to the devices before each run, since other entries may
/// use their memory in between. The caller sets one, or writes to a view of it; the later value
/// counts.
///
/// An entry that changes weights reads what its optimizer makes of `learning_rate` and `update`
/// (UpdateFormula), and its `optimizer.NAME` are computed; the caller gives neither.
class HostScalars {
public:
  /// `entry` stays where it is. In an entry that changes weights, `learning_rate` is NaN and
  /// `update` 0 until they are given.
  HostScalars(const package::PackageData &data, BoundEntry &entry);

  /// Returns memory of the input's type for the caller to write to; null data for an unknown name.
  Tensor view(std::string_view name);
  /// False where the entry has no such scalar.
  template <typename T> bool set(std::string_view name, T value);

  /// Takes over what was written to views. E0001, where the entry is run past its commit, with the
  /// names of the scalars that its update needs and was not given, or for a value that cannot be.
  /// Allocates nothing where all is well.
  Status take(const UpdateFormula &formula, Part part);
  /// Writes the values of the next run to the devices.
  void write(UpdateFormula &formula) const;

private:
  struct Held {
    alignas(8) std::array<std::byte, 8> bytes = {}; ///< what views are of
    bool read = false;                              ///< by a launch
  };

  Status check(const UpdateFormula &formula) const;
  bool isMissing(size_t scalar, const UpdateFormula &formula) const;
  Status missing(const UpdateFormula &formula) const;
  const ScalarInput *find(std::string_view name) const;

  BoundEntry *entry_;
  std::vector<Held> held_; ///< by scalar
};

} // namespace lstmc::session
