// Files of arrays that a source names for initial values.
#pragma once

#include "executor/data/Array.h"
#include "frontend/lnet/evaluation/Run.h"

namespace lstmc::lnet {

/// Reads PATH, which lies beneath one of `folders`: the one array of a .npy file, without a name,
/// or all of an .npz or .safetensors file. Nothing after an error at `span` (E06 of the file).
std::optional<std::vector<data::NamedArray>>
readArrays(Run &run, const std::vector<std::string> &folders, const std::string &path, Span span);

/// The elements of an array of that file, as float64. Nothing after E0604 for one that is not
/// finite.
std::optional<std::vector<double>> numbersOf(Run &run, data::Array &array, const std::string &path,
                                             Span span);

} // namespace lstmc::lnet
