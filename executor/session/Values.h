// Copies weights and inputs from files and the command line into a session.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "executor/base/Limits.h"
#include "executor/base/ValueRange.h"
#include "executor/data/SafeTensors.h"
#include "executor/session/Session.h"

namespace lstmc::session {

/// Sets all parameters by name from a file of arrays (data/ArrayFile.h). Other arrays in the file
/// are ignored. E0610 names file and parameter if one is missing or has another shape or type.
Status bindWeights(Session &session, const std::string &path, const Limits &limits = {});
Status bindWeights(Session &session, const data::SafeTensors &weights);

/// One `-i NAME=VALUE` for an entry:
///   @x.npy            the array; its shape and type must be those of the input
///   @x.npz            the array of that name in it
///   2x4xf32=0         sets every element to the number; shape and type must be those of the input
///   2x4xf32=random:7  uniform in [0, 1) from that seed; for integers 0 to 9, restricted to the
///                     input's range
///   0.5               sets every element to the number
/// E0001 for another form or an unknown input, E0610 for another shape or type, E0604 for a value
/// outside the input's range.
Status setInput(Session &session, std::string_view entry, std::string_view assignment,
                const Limits &limits = {});

/// E0604 with row and place for the first value of an input that is outside its range. `file`:
/// where the values were read, if from a file.
Status checkRange(std::string_view name, const Tensor &values, const ValueRange &range,
                  const std::string &file);

/// Sets every element of a label that the caller does not have to the least value of its range,
/// else to 0. It is for labels on which no wanted output depends.
void setMissing(const Tensor &values, const std::optional<ValueRange> &range);

/// "y f32[2, 3] 30 70 110 70 174 278": name, type, shape, and the first values.
std::string describeValue(std::string_view name, const Tensor &tensor, int64_t values = 8);

} // namespace lstmc::session
