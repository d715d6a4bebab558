// How far a step of a recurrent layer may be from the exact one, whose gates are sums of rounded
// products.
#pragma once

#include <string_view>
#include <vector>

#include "backends/conformance/RecurrenceLaunch.h"
#include "tests/backends/conformance/GpuCards.h"
#include "tests/backends/conformance/Magnitudes.h"

namespace lstmc::conformance {

/// Of an operand that the launch may lack.
inline std::vector<double> valuesOf(TestLaunch &launch, std::string_view name) {
  const Array &array = launch[name];
  return array.storage ? array.values() : std::vector<double>();
}

/// z of a gate is within e of the exact one, by the sums of W x and of R h, and of both biases
/// where they are in the sum. Sigmoid passes a quarter of that on at most, tanh all of it; the
/// magnitudes of gates, of h, of c0 and of biases are at most 1 (that of relu's h is |z|). So
///   lstm  c' within e/4 + e/4 + e, h' within e/4 more
///   gru   n within e + |R h + b| e/4 + e, h' = n + z (h - n) within that and 2 e/4
/// and what f32 rounds in functions and cells is far less than the hundredth part and 2^-20 that
/// are added.
inline double stepBound(const RnnShape &shape, TestLaunch &exact, FastRules rule,
                        bool biasesInSum) {
  const int biases = biasesInSum ? 2 : 0;
  const double ofX = largestRow(rnnInputWeights(shape)) * largest(valuesOf(exact, "x"));
  const double ofH = largestRow(rnnRecurrentWeights(shape));
  const double e = boundOf(ofX + ofH + biases, double(shape.inputs + shape.units + biases), rule);
  return 1.01 * (shape.mode == RnnMode::Lstm  ? 1.75 * e
                 : shape.mode == RnnMode::Gru ? (2.5 + (ofH + 1) / 4) * e
                                              : e) +
         0x1p-20;
}

} // namespace lstmc::conformance
