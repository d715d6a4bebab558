// Python's values as the Symbol API's, and tensors as arrays.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "executor/base/Tensor.h"
#include "executor/data/Array.h"
#include "frontend/symbol/Symbol.h"

namespace lstmc::python {

/// None, a bool, a number, a string, a sequence of integers and None, a sequence of numbers. Raises
/// TypeError for anything else.
symbol::AttributeValue attributeValue(nanobind::handle value);

/// (name, [(argument, value)], [pattern], [initialiser]) as lstmc/init.py has it; None is no name.
symbol::Initialiser initialiserOf(nanobind::handle value);

/// [extent | None | (extent, name)]; None: nothing is known.
symbol::Shape shapeOf(nanobind::handle value);

/// (file, line, text of the line, first byte, byte after the last) as lstmc/place.py finds it; None
/// is no place.
SourceRange placeOf(nanobind::handle value);

/// "float32", "f32". Raises lstmc.Error E0204.
DType dtypeOf(const std::string &name);

/// A view of the tensor, which keeps `owner` alive. Raises TypeError for bfloat16, which NumPy does
/// not have.
nanobind::object viewOf(const Tensor &tensor, nanobind::handle owner);

/// What NumPy, or anything that has DLPack or the buffer protocol, holds in this process's memory.
using HostArray = nanobind::ndarray<nanobind::ro, nanobind::device::cpu>;

/// A view of the array, good as long as it lives. Raises TypeError for a dtype that there is not.
Tensor tensorOf(const HostArray &array);

/// A dense copy.
data::Array copyOf(const HostArray &array);

} // namespace lstmc::python
