#include "frontend/lnet/net/ArrayFiles.h"

#include <algorithm>
#include <cmath>

#include "executor/base/NestedFile.h"
#include "executor/base/Numeric.h"
#include "executor/data/ArrayFile.h"
#include "executor/data/Npy.h"

namespace lstmc::lnet {

static Result<std::vector<data::NamedArray>> parse(Bytes bytes, const std::string &path) {
  std::vector<data::NamedArray> all;
  if (data::ArrayFile::isFormat(bytes, path)) {
    LSTMC_ASSIGN(data::ArrayFile::Pointer file, data::ArrayFile::parse(std::move(bytes), path));
    for (size_t i = 0; i < file->size(); ++i)
      if (std::optional<data::Array> array = file->array(i))
        all.push_back({file->name(i), std::move(*array)});
    return all;
  }
  LSTMC_ASSIGN(data::StoredArray stored,
               data::readNpy(data::StoredBytes::owned(std::move(bytes)), path));
  LSTMC_ASSIGN(data::Array array, std::move(stored).held());
  all.push_back({"", std::move(array)});
  return all;
}

std::optional<std::vector<data::NamedArray>>
readArrays(Run &run, const std::vector<std::string> &folders, const std::string &path, Span span) {
  Result<Bytes> bytes = readNestedFile(folders, path);
  Result<std::vector<data::NamedArray>> arrays =
      bytes.ok() ? parse(std::move(*bytes), path)
                 : Result<std::vector<data::NamedArray>>(bytes.error());
  if (arrays.ok())
    return std::move(*arrays);
  const Error &error = arrays.error();
  run.error(error.code, span, "{}{}: {}", path,
            error.place.byte < 0 ? "" : fmt::format(", byte {}", error.place.byte), error.message);
  return std::nullopt;
}

std::optional<std::vector<double>> numbersOf(Run &run, data::Array &array, const std::string &path,
                                             Span span) {
  const Tensor tensor = array.tensor();
  std::vector<double> numbers(size_t(tensor.elements()));
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = readElement<double>(tensor.data, tensor.dtype, int64_t(i));
  if (std::ranges::all_of(numbers, [](double number) { return std::isfinite(number); }))
    return numbers;
  run.error(ErrorCode::E0604, span, "{}: found a number that is not finite", path);
  return std::nullopt;
}

} // namespace lstmc::lnet
