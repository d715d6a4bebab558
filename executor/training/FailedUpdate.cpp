#include "executor/training/FailedUpdate.h"

#include <algorithm>
#include <cstring>

#include "executor/base/Quote.h"
#include "executor/data/Npz.h"

namespace lstmc::training {

namespace {

/// The schedule's rate. Files of versions that kept what the optimizer had made of it are refused,
/// since they have no such array.
constexpr std::string_view kRate = "schedule.learning_rate";

/// The scalars of an update as they stand in the file. Tensors are views of them.
struct Scalars {
  Trainable::StepScalars values;
  int64_t seed = int64_t(values.seed);

  std::vector<data::NamedTensor> tensors() {
    return {{std::string(kRate), data::denseTensor(&values.learningRate, DType::F64, {})},
            {"update", data::denseTensor(&values.update, DType::I64, {})},
            {"seed", data::denseTensor(&seed, DType::I64, {})}};
  }
};

Result<std::vector<data::NamedTensor>> inputsOf(Trainable &model) {
  LSTMC_ASSIGN(std::vector<data::InputSlot> slots, model.inputs(Trainable::Entry::Step));
  std::vector<data::NamedTensor> tensors;
  for (const data::InputSlot &slot : slots)
    tensors.push_back({slot.name, slot.tensor});
  return tensors;
}

} // namespace

Result<Bytes> packUpdate(Trainable &model, const Trainable::StepScalars &scalars) {
  LSTMC_ASSIGN(std::vector<data::NamedTensor> tensors, inputsOf(model));
  Scalars values{scalars};
  for (data::NamedTensor &named : values.tensors())
    tensors.push_back(std::move(named));
  return data::npzBytes(tensors);
}

bool isFailedUpdate(const Checkpoint &checkpoint) {
  return checkpoint.attachments.contains(std::string(kUpdateFile));
}

Result<Trainable::StepScalars> restoreUpdate(const Checkpoint &checkpoint, Trainable &model,
                                             const Limits &limits) {
  LSTMC_TRY(restore(checkpoint, checkpoint.state.optimizer, model));
  std::string path = checkpoint.folder + "/" + std::string(kUpdateFile);
  LSTMC_ASSIGN(std::vector<data::NamedArray> arrays,
               data::parseNpz(checkpoint.attachments.at(std::string(kUpdateFile)), path, limits));
  Scalars values;
  LSTMC_ASSIGN(std::vector<data::NamedTensor> tensors, inputsOf(model));
  for (data::NamedTensor &named : values.tensors())
    tensors.push_back(std::move(named));
  if (arrays.size() != tensors.size())
    return failAt({path}, ErrorCode::E0610, "arrays: found {}, want the {} of an update",
                  arrays.size(), tensors.size());
  for (const auto &[name, tensor] : tensors) {
    auto found = std::ranges::find(arrays, name, &data::NamedArray::name);
    if (found == arrays.end())
      return failAt({path}, ErrorCode::E0610, "array {}: found none, want one", inQuotes(name));
    const data::Array &array = found->array;
    if (array.dtype != tensor.dtype || !std::ranges::equal(array.shape, data::shapeOf(tensor)))
      return failAt({path}, ErrorCode::E0610, "array {}: found {} {}, want {} {}", inQuotes(name),
                    dtypeName(array.dtype), data::shapeText(array.shape), dtypeName(tensor.dtype),
                    data::shapeText(data::shapeOf(tensor)));
    std::memcpy(tensor.data, array.bytes.data(), array.bytes.size());
  }
  values.values.seed = uint64_t(values.seed);
  return std::move(values.values);
}

} // namespace lstmc::training
