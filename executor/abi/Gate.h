// The order of gates in weights, biases, projections and stored gates: that of MXNet, cuDNN and
// PyTorch.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace lstmc {

/// The kinds of recurrent layers. Values are in packages: append only.
enum class RnnMode : uint8_t { Relu, Tanh, Lstm, Gru };

inline constexpr std::string_view kRnnModeNames[] = {"rnn_relu", "rnn_tanh", "lstm", "gru"};

constexpr std::optional<RnnMode> parseRnnMode(std::string_view name) {
  for (uint8_t i = 0; i < 4; ++i)
    if (name == kRnnModeNames[i])
      return RnnMode(i);
  return std::nullopt;
}

/// Blocks of H rows in W, R and the biases: lstm i, f, g, o; gru r, z, n.
constexpr int gateCount(RnnMode mode) {
  return mode == RnnMode::Lstm ? 4 : mode == RnnMode::Gru ? 3 : 1;
}

enum LstmGate { kGateI, kGateF, kGateG, kGateO };
enum GruGate { kGateR, kGateZ, kGateN };

} // namespace lstmc
