// The keys of a server: weights and slots that count, and their updates.
#pragma once

#include <memory>

#include "executor/stores/KeyParts.h"
#include "executor/training/FitSettings.h"

namespace lstmc::stores {

/// In the memory of a session, which may have several stores of parts that have nothing in common.
class KeyStore {
public:
  /// `fit`: what rates follow from. All but `parts` outlive it. E0402
  /// where the device has no kernel for an update.
  static Result<std::unique_ptr<KeyStore>> create(Session &session, session::SplitStep &step,
                                                  KeyParts parts, const training::FitSettings &fit);

  const KeyParts &parts() const { return parts_; }
  session::SplitStep &step() { return step_; }

  /// The updates that there have been.
  void setUpdates(int64_t updates) { updates_ = updates; }
  /// One more update of all parts.
  void update(std::span<const std::byte> values);

private:
  KeyStore(Session &session, session::SplitStep &step, KeyParts parts,
           const training::FitSettings &fit)
      : session_(session), step_(step), parts_(std::move(parts)), fit_(fit) {}

  Session &session_;
  session::SplitStep &step_;
  const KeyParts parts_;
  std::vector<std::unique_ptr<PreparedProgram>> programs_; ///< of the parts
  const training::FitSettings fit_;
  int64_t updates_ = 0;
};

} // namespace lstmc::stores
