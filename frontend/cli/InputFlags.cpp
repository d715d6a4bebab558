#include "frontend/cli/InputFlags.h"

#include <charconv>
#include <cmath>
#include <cstring>

#include "executor/base/Philox.h"
#include "executor/data/Npy.h"
#include "executor/data/Npz.h"
#include "frontend/cli/Options.h"
#include "frontend/cli/SettingText.h"

namespace lstmc::cli {

/// Address of element `flat` (row-major) of a view.
static char *address(const Tensor &tensor, int64_t flat) {
  int64_t offset = 0;
  for (int axis = tensor.rank - 1; axis >= 0; --axis) {
    offset += flat % tensor.shape[axis] * tensor.strides[axis];
    flat /= tensor.shape[axis];
  }
  return static_cast<char *>(tensor.data) + offset * int64_t(dtypeBytes(tensor.dtype));
}

template <typename T> static T loadAs(const void *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

double elementAt(const Tensor &tensor, int64_t flatIndex) {
  const char *at = address(tensor, flatIndex);
  switch (tensor.dtype) {
  case DType::F32: return loadAs<float>(at);
  case DType::F64: return loadAs<double>(at);
  case DType::I8: return loadAs<int8_t>(at);
  case DType::U8:
  case DType::Bool: return loadAs<uint8_t>(at);
  case DType::I32: return loadAs<int32_t>(at);
  case DType::I64: return double(loadAs<int64_t>(at));
  case DType::BF16: {
    uint32_t bits = uint32_t(loadAs<uint16_t>(at)) << 16;
    return loadAs<float>(&bits);
  }
  case DType::F16: return double(loadAs<_Float16>(at));
  }
  return 0;
}

static bool storeNumber(char *to, DType dtype, double value) {
  auto store = [&](auto typed) {
    std::memcpy(to, &typed, sizeof(typed));
    return double(typed) == value || !std::is_integral_v<decltype(typed)>;
  };
  switch (dtype) {
  case DType::F32: return store(float(value));
  case DType::F64: return store(value);
  case DType::I8: return store(int8_t(value));
  case DType::U8:
  case DType::Bool: return store(uint8_t(value));
  case DType::I32: return store(int32_t(value));
  case DType::I64: return store(int64_t(value));
  default: return false;
  }
}

static data::Array arrayLike(const Tensor &like) {
  data::Array array;
  array.dtype = like.dtype;
  array.shape.assign(like.shape.begin(), like.shape.begin() + like.rank);
  array.bytes.resize(size_t(like.elements()) * dtypeBytes(like.dtype));
  return array;
}

static Result<data::Array> filled(const std::string &name, const std::string &text, const Tensor &like) {
  data::Array array = arrayLike(like);
  size_t size = dtypeBytes(like.dtype);
  char *bytes = reinterpret_cast<char *>(array.bytes.data());
  if (text.starts_with("random:")) {
    LSTMC_ASSIGN(int64_t seed, parseCount("input", text.substr(7)));
    for (int64_t i = 0; i < like.elements(); ++i) {
      double uniform = randomUniform(uint64_t(seed), uint64_t(i), 0, 0);
      storeNumber(bytes + size_t(i) * size, like.dtype, isFloat(like.dtype) ? uniform : std::floor(2 * uniform));
    }
    return array;
  }
  LSTMC_ASSIGN(double value, parseNumber("-i " + name, text));
  for (int64_t i = 0; i < like.elements(); ++i)
    if (!storeNumber(bytes + size_t(i) * size, like.dtype, value))
      return fail(ErrorCode::E0001, "-i {}: {} is no {}", name, text, dtypeLongName(like.dtype));
  return array;
}

static Status checkLike(const std::string &name, const data::Array &array, const Tensor &like) {
  std::vector<int64_t> wanted(like.shape.begin(), like.shape.begin() + like.rank);
  if (array.dtype != like.dtype || array.shape != wanted)
    return fail(ErrorCode::E0610, "{} is {}{}, the network wants {}{}", name, dtypeLongName(array.dtype), data::shapeText(array.shape),
                dtypeLongName(like.dtype), data::shapeText(wanted));
  return {};
}

Result<data::Array> inputValue(const std::string &name, const std::string &value, const Tensor &like) {
  if (value.starts_with("@")) {
    std::string path = value.substr(1);
    if (!path.ends_with(".npz")) {
      LSTMC_ASSIGN(data::Array array, data::loadNpy(path));
      LSTMC_TRY(checkLike(name, array, like));
      return array;
    }
    LSTMC_ASSIGN(auto arrays, data::loadNpz(path));
    for (data::NamedArray &named : arrays)
      if (named.name == name) {
        LSTMC_TRY(checkLike(name, named.array, like));
        return std::move(named.array);
      }
    return failAt({path}, ErrorCode::E0610, "it has no array named \"{}\"", name);
  }
  size_t equals = value.find('=');
  if (equals == std::string::npos)
    return filled(name, value, like);
  data::Array described;
  std::string shape = value.substr(0, equals);
  for (size_t at = 0; at <= shape.size();) {
    size_t end = std::min(shape.find('x', at), shape.size());
    std::string part = shape.substr(at, end - at);
    at = end + 1;
    if (std::optional<DType> dtype = parseDType(part)) {
      described.dtype = *dtype;
      continue;
    }
    LSTMC_ASSIGN(int64_t extent, parseCount("input", part));
    described.shape.push_back(extent);
  }
  LSTMC_TRY(checkLike(name, described, like));
  return filled(name, value.substr(equals + 1), like);
}

void copyInto(const data::Array &array, const Tensor &target) {
  size_t size = dtypeBytes(target.dtype);
  for (int64_t i = 0; i < target.elements(); ++i)
    std::memcpy(address(target, i), array.bytes.data() + size_t(i) * size, size);
}

} // namespace lstmc::cli
