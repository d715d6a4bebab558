#include "frontend/driver/OfferedInputs.h"

#include <algorithm>

#include "executor/data/Npy.h"
#include "executor/data/Npz.h"
#include "frontend/driver/FieldTypes.h"

namespace lstmc::driver {

static symbol::Shape shapeOf(std::span<const int64_t> extents) {
  symbol::Shape shape;
  shape.ranked = true;
  for (int64_t extent : extents)
    shape.dims.push_back({extent, {}});
  return shape;
}

/// Adds what the array of that name in an npz has, or the one of an npy.
static Status addArray(symbol::OfferedInput &to, const std::string &path,
                       const lstmc::Limits &limits) {
  LSTMC_ASSIGN(InputFile opened, InputFile::open(path));
  const data::StoredBytes bytes(std::move(opened)); // stays in the file
  std::vector<data::NamedStoredArray> arrays;
  if (path.ends_with(".npz")) {
    LSTMC_ASSIGN(arrays, data::readNpz(bytes, path, limits));
  } else {
    LSTMC_ASSIGN(data::StoredArray array, data::readNpy(bytes, path, limits));
    arrays.push_back({to.name, std::move(array)});
  }
  for (const data::NamedStoredArray &named : arrays)
    if (named.name == to.name) {
      to.shape = shapeOf(named.array.shape());
      to.dtype = named.array.dtype();
    }
  return {};
}

Result<std::vector<symbol::OfferedInput>>
inputsOfValues(const std::vector<std::string> &assignments, const lstmc::Limits &limits) {
  std::vector<symbol::OfferedInput> inputs;
  for (const std::string &assignment : assignments) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos)
      continue; // refused where it is set
    symbol::OfferedInput &input = inputs.emplace_back();
    input.name = assignment.substr(0, equals);
    const std::string value = assignment.substr(equals + 1);
    if (value.starts_with('@')) {
      LSTMC_TRY(addArray(input, value.substr(1), limits));
    } else if (const size_t second = value.find('='); second != std::string::npos) {
      Result<symbol::InputShape> shape =
          Shape::parse("input", input.name + "=" + value.substr(0, second));
      if (!shape.ok())
        continue; // likewise
      input.shape = shapeOf(shape->extents);
      input.dtype = shape->dtype;
    }
  }
  return inputs;
}

std::vector<symbol::OfferedInput> inputsOfData(const data::DataSet &data) {
  std::vector<symbol::OfferedInput> inputs;
  for (const data::ArrayShape &array : data.arrayShapes())
    inputs.push_back({array.input, shapeOf(array.shape), {}, /*ofAllSamples=*/true});
  return inputs;
}

} // namespace lstmc::driver
