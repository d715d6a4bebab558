// A judgement in a process of its own, so that a crash or an endless loop is a finding too.
#pragma once

#include "tests/nets/Judge.h"

namespace lstmc::nets {

/// Net `seed`, or a text where it is given. Never fails: what kills the child is the verdict.
struct Judged {
  std::string text; ///< empty where the child died before it was there
  Verdict verdict;
};
Judged judgeInChild(uint64_t seed, const Questions &questions, const std::string &text = {});

} // namespace lstmc::nets
