// The nets for calibration, as text of sym modules, so that no frontend is needed.
#pragma once

#include <string>

namespace lstmc::planning {

enum class Layers { None, Lstm, Gru };

/// Dimensions of a net.
struct Cell {
  int batch, steps, hidden, vocab;
  Layers layers = Layers::Lstm;
};

/// A language model with two recurrent layers and typical other ops; without layers, a regression
/// with the remaining ops of sequence networks.
std::string netOf(const Cell &cell);

/// A value of `elements` floats passed back and forth between two devices, groups "group0" and
/// "group1".
std::string hopsNet(int elements);

/// A product of two matrices of extent `extent`.
std::string productNet(int extent);

/// Halves `elements` floats `launches` times; each is a launch of its own without fusion.
std::string halvesNet(int elements, int launches);

/// A single LSTM layer.
std::string recurrenceNet(int steps, int batch, int hidden);

} // namespace lstmc::planning
