#include "frontend/importers/Imported.h"

#include "executor/data/SafeTensors.h"

namespace lstmc::importers {

Status write(Imported &imported, const std::string &network, const std::string &weights,
             OutputFile::Existing existing) {
  LSTMC_TRY(writeFile(network, imported.text, existing));
  if (weights.empty())
    return {};
  std::vector<data::NamedTensor> tensors;
  for (data::NamedArray &array : imported.tensors)
    tensors.push_back({array.name, array.array.tensor()});
  return data::writeSafeTensors(weights, tensors, existing);
}

} // namespace lstmc::importers
