// Runs a check in a process of its own, so that a crash or an endless loop is a finding too.
#pragma once

#include "tests/nets/Judge.h"

namespace lstmc::nets {

/// Checks net `seed`, or `text` if it is given. Never fails: if the child is killed, that is the
/// verdict.
struct Judged {
  std::string text; ///< empty if the child died before the text existed
  Verdict verdict;
};
Judged judgeInChild(uint64_t seed, const Questions &questions, const std::string &text = {});

} // namespace lstmc::nets
