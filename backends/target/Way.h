// How a device carries out a recurrent layer.
#pragma once

#include <cstdint>
#include <string_view>

namespace lstmc::target {

/// One of several ways, which give the same bits unless a rule of --fast is in force.
struct Way {
  std::string_view name; ///< "on-chip", "tensor-cores", "step-by-step",
                         ///< "through-cache", "library"
  int64_t blocks = 1;    ///< of a cluster, which advances `rows` sequences through all steps
  int64_t rows = 1;
  int64_t clusters = 1;     ///< among which the batch is divided
  bool keepsInputs = false; ///< whether no step reads the weights of the inputs from memory
  double stepSeconds = 0;   ///< of all sequences

  bool operator==(const Way &) const = default;
};

} // namespace lstmc::target
