#include "frontend/python/Values.h"

#include <nanobind/stl/string.h>

#include "executor/base/Numeric.h"
#include "executor/base/Quote.h"
#include "executor/base/Suggest.h"
#include "frontend/python/Failure.h"
#include "frontend/symbol/Initialisers.h"
#include "frontend/symbol/Render.h"

namespace nb = nanobind;

namespace lstmc::python {

/// The items of a list or tuple.
static std::vector<nb::object> itemsOf(nb::handle sequence) {
  std::vector<nb::object> items;
  for (nb::handle item : sequence)
    items.push_back(nb::borrow(item));
  return items;
}

static bool isSequence(nb::handle value) {
  return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
}

/// NumPy's integers are none of Python's, but can be had as them.
static bool isInteger(nb::handle value) {
  return PyIndex_Check(value.ptr()) && !PyBool_Check(value.ptr());
}
static int64_t integerOf(nb::handle value) {
  nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  if (!index.is_valid())
    throw nb::python_error();
  int overflow = 0;
  const long long integer = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow != 0)
    throw Failure(fail(ErrorCode::E0001, "found an integer of more than 64 bits"));
  return integer;
}

static symbol::AttributeValue sequenceOf(nb::handle value) {
  std::vector<nb::object> items = itemsOf(value);
  symbol::Tuple tuple;
  for (const nb::object &item : items) {
    if (item.is_none())
      tuple.push_back(std::nullopt);
    else if (isInteger(item))
      tuple.push_back(integerOf(item));
    else
      break;
  }
  if (tuple.size() == items.size())
    return tuple;
  std::vector<double> numbers;
  for (const nb::object &item : items)
    numbers.push_back(nb::cast<double>(nb::float_(item)));
  return numbers;
}

symbol::AttributeValue attributeValue(nb::handle value) {
  if (value.is_none())
    return std::monostate();
  if (PyBool_Check(value.ptr()))
    return value.ptr() == Py_True;
  if (isInteger(value))
    return integerOf(value);
  if (PyUnicode_Check(value.ptr()))
    return nb::cast<std::string>(value);
  if (isSequence(value))
    return sequenceOf(value);
  if (PyNumber_Check(value.ptr()))
    return nb::cast<double>(nb::float_(value));
  throw nb::type_error("an attribute is None, a bool, a number, a string or a tuple of numbers");
}

symbol::Initialiser initialiserOf(nb::handle value) {
  symbol::Initialiser init;
  if (value.is_none())
    return init;
  std::vector<nb::object> parts = itemsOf(value);
  init.name = nb::cast<std::string>(parts.at(0));
  for (const nb::object &pair : itemsOf(parts.at(1))) {
    std::vector<nb::object> argument = itemsOf(pair);
    init.arguments.push_back(
        {nb::cast<std::string>(argument.at(0)), attributeValue(argument.at(1))});
  }
  for (const nb::object &pattern : itemsOf(parts.at(2))) {
    init.patterns.push_back(nb::cast<std::string>(pattern));
    if (auto problem = symbol::patternProblem(init.patterns.back()))
      throw Failure(fail(ErrorCode::E0204, "Mixed: pattern {}: {}", inQuotes(init.patterns.back()),
                         *problem));
  }
  for (const nb::object &inner : itemsOf(parts.at(3)))
    init.initialisers.push_back(initialiserOf(inner));
  return init;
}

symbol::Shape shapeOf(nb::handle value) {
  symbol::Shape shape;
  if (value.is_none())
    return shape;
  shape.ranked = true;
  for (const nb::object &item : itemsOf(value)) {
    if (item.is_none()) {
      shape.dims.push_back({});
    } else if (isSequence(item)) {
      std::vector<nb::object> dim = itemsOf(item);
      shape.dims.push_back({integerOf(dim.at(0)), nb::cast<std::string>(dim.at(1))});
    } else {
      shape.dims.push_back({integerOf(item), {}});
    }
  }
  return shape;
}

/// Display cells of `text`, from cell `column` (from 0) on.
static int cellsOfText(std::string_view text, int column) {
  int begin = column;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (end < text.size() && (uint8_t(text[end]) & 0xC0) == 0x80)
      ++end;
    column += symbol::cellsOf(text.substr(at, end - at), column);
    at = end;
  }
  return column - begin;
}

SourceRange placeOf(nb::handle value) {
  SourceRange range;
  if (value.is_none())
    return range;
  std::vector<nb::object> parts = itemsOf(value);
  range.file = nb::cast<std::string>(parts.at(0));
  range.line = nb::cast<int>(parts.at(1));
  range.text = nb::cast<std::string>(parts.at(2));
  size_t begin = std::min(nb::cast<size_t>(parts.at(3)), range.text.size());
  size_t end = std::clamp(nb::cast<size_t>(parts.at(4)), begin, range.text.size());
  int before = cellsOfText(std::string_view(range.text).substr(0, begin), 0);
  range.column = before + 1;
  range.bytes = int64_t(std::max<size_t>(end - begin, 1));
  range.length =
      std::max(1, cellsOfText(std::string_view(range.text).substr(begin, end - begin), before));
  return range;
}

DType dtypeOf(const std::string &name) {
  if (std::optional<DType> dtype = parseDType(name))
    return *dtype;
  throw Failure(fail(ErrorCode::E0204, "there is no dtype \"{}\"", name));
}

//===---- arrays ------------------------------------------------------------------------------===//

static nb::dlpack::dtype dlpackOf(DType dtype) {
  using Code = nb::dlpack::dtype_code;
  auto made = [&](Code code) {
    return nb::dlpack::dtype{uint8_t(code), uint8_t(8 * dtypeBytes(dtype)), 1};
  };
  switch (dtype) {
  case DType::F32:
  case DType::F64:
  case DType::F16:
    return made(Code::Float);
  case DType::I8:
  case DType::I32:
  case DType::I64:
    return made(Code::Int);
  case DType::U8:
    return made(Code::UInt);
  case DType::Bool:
    return made(Code::Bool);
  case DType::BF16:
    break;
  }
  throw Failure(
      fail(ErrorCode::E0613, "NumPy has no bfloat16; cast the value to float32 in the network"));
}

nb::object viewOf(const Tensor &tensor, nb::handle owner) {
  std::array<size_t, kMaxRank> shape{};
  for (int axis = 0; axis < tensor.rank; ++axis)
    shape[size_t(axis)] = size_t(tensor.shape[size_t(axis)]);
  nb::ndarray<nb::numpy> array(tensor.data, size_t(tensor.rank), shape.data(), owner,
                               tensor.strides.data(), dlpackOf(tensor.dtype),
                               nb::device::cpu::value);
  return nb::cast(array, nb::rv_policy::reference);
}

static DType dtypeOf(nb::dlpack::dtype dtype) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (DType(i) != DType::BF16 && dlpackOf(DType(i)) == dtype)
      return DType(i);
  throw nb::type_error("the array's dtype is none of float16, float32, float64, int8, uint8, "
                       "int32, int64 and bool");
}

Tensor tensorOf(const HostArray &array) {
  if (array.ndim() > size_t(kMaxRank))
    throw nb::type_error("the array has more axes than 16");
  Tensor tensor;
  tensor.data = const_cast<void *>(array.data());
  tensor.dtype = dtypeOf(array.dtype());
  tensor.rank = int(array.ndim());
  for (size_t axis = 0; axis < array.ndim(); ++axis) {
    tensor.shape[axis] = int64_t(array.shape(axis));
    tensor.strides[axis] = array.stride(axis);
  }
  return tensor;
}

/// Copies from axis `axis` on; `to` is dense and moves along.
static void copyAxis(const Tensor &from, int axis, const uint8_t *at, uint8_t *&to) {
  size_t bytes = dtypeBytes(from.dtype);
  if (axis == from.rank) {
    std::copy_n(at, bytes, to);
    to += bytes;
    return;
  }
  for (int64_t i = 0; i < from.shape[size_t(axis)]; ++i)
    copyAxis(from, axis + 1, at + i * from.strides[size_t(axis)] * int64_t(bytes), to);
}

data::Array copyOf(const HostArray &given) {
  Tensor tensor = tensorOf(given);
  data::Array array;
  array.dtype = tensor.dtype;
  array.shape.assign(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
  array.bytes.resize(size_t(tensor.elements()) * dtypeBytes(tensor.dtype));
  uint8_t *to = array.bytes.data();
  if (tensor.dense())
    std::copy_n(tensor.as<uint8_t>(), array.bytes.size(), to);
  else
    copyAxis(tensor, 0, tensor.as<uint8_t>(), to);
  return array;
}

} // namespace lstmc::python
