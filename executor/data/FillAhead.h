// Inputs of a batch that are filled while the one before is computed.
#pragma once

#include <optional>
#include <utility>

#include "executor/data/DataSet.h"

namespace lstmc::data {

class FillAhead {
public:
  explicit FillAhead(Feed &feed) : feed_(feed) {}

  /// As Feed::fill(), unless fillNext() has filled the inputs of that batch: then what it found.
  Status fill(Position position) {
    return filled_ ? *std::exchange(filled_, std::nullopt) : feed_.fill(position);
  }
  /// Those of the batch that fill() will be asked for next.
  void fillNext(Position position) { filled_ = feed_.fill(position); }
  /// What fillNext() has filled is lost: another entry may have its inputs in the same place.
  void forget() { filled_.reset(); }

private:
  Feed &feed_;
  std::optional<Status> filled_;
};

} // namespace lstmc::data
