// For callers whose results must be finite: which value of a run was the first that is not.
#pragma once

#include <string_view>

#include "executor/base/Diagnostic.h"
#include "executor/session/Session.h"

namespace lstmc::session {

/// E0701 for the entry that ran last, of which an output is not finite: names the input or
/// parameter that is not, else the first op that wrote such a value. Runs the entry again, launch
/// by launch, with the inputs and states that the session has: set states back before, if the entry
/// changes them. `when` is "in forward". Removes the session's observer. In a job all ranks must
/// call it, and get the same.
Result<Diagnostic> whyNotFinite(Session &session, std::string_view entry, std::string_view when);

/// Whether an output of the entry that ran last is floats that are not all finite.
Result<bool> hasNonFinite(const Session &session, std::string_view entry, std::string_view output);

} // namespace lstmc::session
