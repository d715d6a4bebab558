// Optimizer slots that several devices have slices of, seen as one value.
#pragma once

#include <memory>
#include <vector>

#include "executor/package/Package.h"
#include "executor/session/BoundEntry.h"

namespace lstmc::session {

class Slices {
public:
  Slices(const package::Package &package, const Devices &devices);

  /// The slot in one piece, as the devices have it now; what is written there reaches them by
  /// writeBack(), until when it stays where it is. `slot` is in slices.
  Tensor whole(const package::Parameter &parameter, const package::Slot &slot);
  /// As the devices have it, in order; in one piece where it has been made whole.
  std::vector<Tensor> pieces(const package::Parameter &parameter, const package::Slot &slot) const;
  /// Gives the devices what has been made whole, and lets go of it.
  void writeBack();
  /// Lets go of it.
  void forget() { whole_.clear(); }

private:
  struct Whole {
    const package::Slot *slot;
    std::unique_ptr<std::byte[]> bytes;
  };
  const Whole *find(const package::Slot &slot) const;
  /// `visit` gets the bytes of each slice, and where they are in the whole.
  template <typename F> void eachSlice(const package::Slot &slot, F visit) const;

  const package::Package &package_;
  const Devices &devices_;
  std::vector<Whole> whole_;
};

} // namespace lstmc::session
