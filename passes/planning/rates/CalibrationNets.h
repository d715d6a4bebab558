// The nets that are measured, as texts of modules of sym, so that no frontend is asked.
#pragma once

#include <string>

namespace lstmc::planning {

enum class Layers { None, Lstm, Gru };

/// Sizes of a net.
struct Cell {
  int batch, steps, hidden, vocab;
  Layers layers = Layers::Lstm;
};

/// A language model with a bit of everything, of two layers, so that one reads what the other
/// writes; without layers, a regression through what else networks of sequences have.
std::string netOf(const Cell &cell);

/// A value of so many floats that two devices, groups "group0" and "group1", hand to and fro.
std::string hopsNet(int elements);

/// A product of two matrices of these extents.
std::string productNet(int extent);

/// Half of so many floats, so many times, each a launch of its own if nothing is fused.
std::string halvesNet(int elements, int launches);

/// One LSTM.
std::string recurrenceNet(int steps, int batch, int hidden);

} // namespace lstmc::planning
