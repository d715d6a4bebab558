// The checks of a net and their verdict.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/nets/Way.h"

namespace lstmc::nets {

struct Verdict {
  enum Kind { Fine, Refused, NotFinite, Wrong } kind = Fine;
  std::string judge; ///< if Wrong: which judge; if Refused: the code
  std::string way;   ///< the way in which the net was run
  std::string what;
  /// Number of checks that ran, were rejected or were skipped, by name.
  std::map<std::string, int64_t> counts;
};

/// Which checks to run. All of them take time; to reduce a net, only the one that failed is needed.
struct Questions {
  /// text, plain, passes, ways, gpus, pipeline, forward, gradients; empty: all.
  std::vector<std::string> judges;
  std::vector<Way> ways;           ///< in which the training has to give the same bits
  int64_t most = 1000;             ///< use at most this many that are not refused
  std::vector<std::string> passes; ///< to leave out, one at a time
  uint64_t seed = 1;               ///< for values and directions

  bool asks(const std::string &judge) const;
};

/// The checks for net `seed`: all judges, and some of the ways and passes in turn.
Questions questionsFor(uint64_t seed);

/// Stops at the first error.
Verdict judge(const std::string &text, const Questions &questions);

} // namespace lstmc::nets
