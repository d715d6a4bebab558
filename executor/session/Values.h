// Weights and inputs from files and from the command line, into a session.
#pragma once

#include <string>
#include <string_view>

#include "executor/base/Limits.h"
#include "executor/data/SafeTensors.h"
#include "executor/session/Session.h"

namespace lstmc::session {

/// All parameters by name, from a safetensors file or (by its ending) an npz. Further tensors in
/// the file are ignored. E0610 naming file and parameter when one is missing or of another shape or
/// type.
Status bindWeights(Session &session, const std::string &path, const Limits &limits = {});
Status bindWeights(Session &session, const data::SafeTensors &weights);

/// One `-i NAME=VALUE` for an entry:
///   @x.npy            the array, of the input's own shape and type
///   @x.npz            the array of that name in it
///   2x4xf32=0         every element that number; shape and type must be the input's
///   2x4xf32=random:7  uniform in [0, 1) from that seed; integers from 0 to 9, as far as the input
///                     has a place for them
///   0.5               every element that number
/// E0001 for another form or an input that is not there, E0610 for another shape or type, E0604 for
/// a value outside of the input's range.
Status setInput(Session &session, std::string_view entry, std::string_view assignment,
                const Limits &limits = {});

/// "y f32[2, 3] 30 70 110 70 174 278": name, type, shape, and the first values.
std::string describeValue(std::string_view name, const Tensor &tensor, int64_t values = 8);

} // namespace lstmc::session
