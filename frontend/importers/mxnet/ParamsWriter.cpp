#include "frontend/importers/mxnet/ParamsWriter.h"

#include <algorithm>

#include "frontend/importers/mxnet/AttributeText.h"

namespace lstmc::importers::mxnet {

namespace {

constexpr uint64_t kListMagic = 0x112;
constexpr uint32_t kV2 = 0xF993FAC9;
constexpr int32_t kDense = 0, kCpu = 1;

/// Numbers are little-endian, as the machine is.
template <typename T> void put(std::string &to, T value) {
  to.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

/// An array without axes, which the format does not have, has one of extent 1.
std::string headerOf(const Tensor &tensor) {
  std::string header;
  put(header, kV2);
  put(header, kDense);
  put(header, int32_t(std::max(tensor.rank, 1)));
  if (tensor.rank == 0)
    put(header, int64_t(1));
  for (int axis = 0; axis < tensor.rank; ++axis)
    put(header, int64_t(tensor.shape[size_t(axis)]));
  put(header, kCpu);
  put(header, int32_t(0));
  put(header, codeOf(tensor.dtype));
  return header;
}

} // namespace

Status writeParams(const std::string &path, std::span<const data::NamedTensor> arrays,
                   OutputFile::Existing existing, bool named) {
  LSTMC_ASSIGN(OutputFile file, OutputFile::create(path, existing));
  std::string begin;
  put(begin, kListMagic);
  put(begin, uint64_t(0));
  put(begin, uint64_t(arrays.size()));
  LSTMC_TRY(file.write(begin));
  for (const data::NamedTensor &array : arrays) {
    LSTMC_TRY(file.write(headerOf(array.tensor)));
    LSTMC_TRY(file.write(data::bytesOf(array.tensor)));
  }
  std::string names;
  put(names, uint64_t(named ? arrays.size() : 0));
  if (named)
    for (const data::NamedTensor &array : arrays) {
      put(names, uint64_t(array.name.size()));
      names += array.name;
    }
  LSTMC_TRY(file.write(names));
  return file.commit();
}

} // namespace lstmc::importers::mxnet
