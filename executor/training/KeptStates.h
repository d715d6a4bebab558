// States as they were.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "executor/session/Session.h"

namespace lstmc::training {

class KeptStates {
public:
  explicit KeptStates(std::vector<StoredTensor> states) : states_(std::move(states)) { keep(); }
  explicit KeptStates(const Session &session) : KeptStates(of(session)) {}

  /// As they are now.
  void keep() {
    values_.resize(states_.size());
    for (size_t i = 0; i < states_.size(); ++i) {
      values_[i].resize(size_t(states_[i].bytes()));
      states_[i].read(values_[i]);
    }
  }
  void putBack() const {
    for (size_t i = 0; i < states_.size(); ++i)
      states_[i].write(values_[i]);
  }

private:
  static std::vector<StoredTensor> of(const Session &session) {
    std::vector<StoredTensor> states;
    for (const package::State &state : session.package().data().states)
      states.push_back(*session.storedState(state.name));
    return states;
  }

  std::vector<StoredTensor> states_;
  std::vector<std::vector<std::byte>> values_;
};

} // namespace lstmc::training
