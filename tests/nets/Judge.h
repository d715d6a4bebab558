// What must hold of a net, and who says so.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/nets/Way.h"

namespace lstmc::nets {

struct Verdict {
  enum Kind { Fine, Refused, NotFinite, Wrong } kind = Fine;
  std::string judge; ///< of Wrong: who found it; of Refused: the code
  std::string way;   ///< in which way of carrying it out
  std::string what;
  /// How often what was asked, refused, skipped.
  std::map<std::string, int64_t> counts;
};

/// Which questions are asked. All of them take time; who shrinks a net asks the one that failed.
struct Questions {
  std::vector<std::string> judges; ///< text, plain, passes, ways, gradients; empty: all
  std::vector<Way> ways;           ///< in which the training has to give the same bits
  int64_t most = 1000;             ///< so many of them that are not refused
  std::vector<std::string> passes; ///< left out one at a time
  uint64_t seed = 1;               ///< of values and directions

  bool asks(const std::string &judge) const;
};

/// The questions for net `seed`: all judges, and of ways and passes some, in turn.
Questions questionsFor(uint64_t seed);

/// Stops at the first thing that is wrong.
Verdict judge(const std::string &text, const Questions &questions);

} // namespace lstmc::nets
