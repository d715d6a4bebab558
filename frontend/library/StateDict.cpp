#include "frontend/library/StateDict.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "frontend/keras/StateDict.h"
#include "frontend/torch/StateDict.h"

namespace lstmc::library {

namespace {

/// What a file of weights may be of.
struct Origin {
  torch::Recurrence recurrence;
  std::optional<keras::Source> keras; ///< none: torch.nn
};
constexpr Origin kOfTorch[] = {
    {torch::Recurrence::Lstm, {}}, {torch::Recurrence::Gru, {}}, {torch::Recurrence::RnnTanh, {}}};
constexpr Origin kOfKeras[] = {{torch::Recurrence::Lstm, keras::Source::Lstm},
                               {torch::Recurrence::Gru, keras::Source::Gru},
                               {torch::Recurrence::RnnTanh, keras::Source::SimpleRnn},
                               {torch::Recurrence::Lstm, keras::Source::TensorFlowLstm}};

data::NamedArray copyOf(const data::NamedTensor &from) {
  const Tensor &tensor = from.tensor;
  data::NamedArray copy{from.name, {tensor.dtype, {}, {}}};
  copy.array.shape.assign(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
  copy.array.bytes = Bytes(size_t(tensor.elements()) * dtypeBytes(tensor.dtype));
  std::memcpy(copy.array.bytes.data(), tensor.data, copy.array.bytes.size());
  return copy;
}

Result<StateDict> readAs(data::SafeTensors file, const Origin &origin) {
  torch::ImportRequest request;
  request.recurrence = origin.recurrence;
  if (origin.keras) {
    request.assumptions = keras::assumptions(file, *origin.keras);
    request.layerNormEpsilon = keras::kLayerNormEpsilon;
    LSTMC_ASSIGN(file, keras::asStateDict(file, *origin.keras));
  }
  LSTMC_ASSIGN(const torch::Imported made, torch::importStateDict(file, request));
  StateDict found{made.text, {}};
  std::ranges::transform(made.weights, std::back_inserter(found.weights), copyOf);
  return found;
}

} // namespace

bool isStateDict(const std::string &path) { return path.ends_with(".safetensors"); }

Result<StateDict> readStateDict(const std::string &path) {
  LSTMC_ASSIGN(const data::SafeTensors file, data::SafeTensors::load(path));
  // Keras and TensorFlow call weights by paths.
  const bool paths = std::ranges::any_of(file.records(), [](const data::TensorRecord &record) {
    return record.name.find('/') != std::string::npos;
  });
  const std::span<const Origin> origins = paths ? std::span<const Origin>(kOfKeras) : kOfTorch;
  std::optional<Error> first;
  for (const Origin &origin : origins) {
    Result<StateDict> found = readAs(file, origin);
    if (found.ok())
      return found;
    if (!first)
      first = found.error();
  }
  return *first;
}

} // namespace lstmc::library
