// SHA-256 of bytes, to check manifests, packages and data positions.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace lstmc {

/// Takes bytes in pieces of any size; `finish` gives 64 lower-case hex digits and may be called
/// once.
class Sha256 {
public:
  Sha256();
  ~Sha256();
  Sha256(Sha256 &&) noexcept;
  void update(std::span<const uint8_t> bytes);
  std::string finish();

private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256(std::span<const uint8_t> bytes);

} // namespace lstmc
