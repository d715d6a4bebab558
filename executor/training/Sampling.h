// A language model writes text, a symbol at a time.
#pragma once

#include <functional>
#include <string>

#include "executor/data/Vocabulary.h"
#include "executor/session/Session.h"

namespace lstmc::training {

struct Sampling {
  std::string prime; ///< text to begin with
  int64_t length = 0;
  double temperature = 1; ///< probabilities to the power of 1 / temperature; 0: the likeliest
  int64_t topK = 0;       ///< of the likeliest symbols only; 0: of all
  double topP = 0;        ///< of the fewest symbols that have this probability together; 0: of all
  uint64_t seed = 0;
};

/// Draws symbols with states that begin at zero, and gives the text to `take` piece by piece, the
/// prime first. Ends early where `goesOn`, asked before each symbol, says no. Returns how many were
/// drawn.
///
/// A session of one symbol computes one for each. One of windows computes the window for each: its
/// states stay those before the window until it is full. Where a network keeps no state, a window
/// is what it sees, and moves on by one symbol.
///
/// E0610 for a network that does not give a probability for each symbol of the vocabulary, E0607
/// for a prime of other symbols, E0701 for probabilities that are no numbers.
Result<int64_t> sampleText(Session &session, const data::Vocabulary &vocabulary,
                           data::TextUnit unit, const Sampling &sampling,
                           const std::function<Status(std::string_view)> &take,
                           const std::function<bool()> &goesOn);

} // namespace lstmc::training
