#include "frontend/driver/RealSteps.h"

#include <algorithm>

#include "frontend/driver/NamedModel.h"
#include "passes/planning/forecast/Lengths.h"

namespace lstmc::driver {

/// Batches that are looked at.
static constexpr int64_t kBatches = 64;

/// The entry whose forecast depends on lengths; null where there is none.
static const package::Entry *stepWithLengths(const package::PackageData &data) {
  for (const package::Entry &entry : data.entries)
    if (entry.name == "step" && planning::lengthsInput(entry))
      return &entry;
  return nullptr;
}

Result<double> realSteps(const package::PackageData &data, const data::DataSet &set,
                         uint64_t seed) {
  const package::Entry *step = stepWithLengths(data);
  if (!step || !set.spec().buckets.empty()) // the package is that of the longest bucket
    return 1;
  const planning::LengthsInput lengths = *planning::lengthsInput(*step);
  std::vector<std::vector<std::byte>> memory;
  std::vector<data::InputSlot> slots;
  Tensor read;
  for (const package::Binding &input : step->inputs) {
    if (input.role == "scalar")
      continue;
    const package::Buffer &buffer = data.buffers[input.buffer];
    memory.emplace_back(buffer.bytes);
    const Tensor tensor = data::denseTensor(memory.back().data(), buffer.dtype, buffer.shape);
    if (input.name == lengths.name)
      read = tensor;
    auto batch = std::find(input.dims.begin(), input.dims.end(), "batch");
    const int axis = batch == input.dims.end() ? 0 : int(batch - input.dims.begin());
    slots.push_back({input.name, input.role == "label", tensor, axis, input.range});
  }
  LSTMC_ASSIGN(std::unique_ptr<data::Feed> feed, set.feed(data::Part::Train, slots, seed));
  const int64_t batches = std::min(kBatches, feed->batches());
  double real = 0;
  for (int64_t batch = 0; batch < batches; ++batch) {
    LSTMC_TRY(feed->fill({0, batch}));
    real += planning::realSteps(read, lengths.steps);
  }
  return real / double(batches);
}

Checked<double> realSteps(const package::PackageData &data, const std::string &path,
                          const RunRequest &options, const DataUse &use) {
  if (!stepWithLengths(data))
    return 1.0;
  LSTMC_CHECKED_ASSIGN(NamedModel named, readNamedModel(path, options, {}));
  Result<ModelData> read = loadData(options, use, named.data, named.namer, named.known());
  if (!read.ok() && !options.data)
    return 1.0; // a plan needs no data
  if (!read.ok())
    return asDiagnostic(read.error());
  LSTMC_CHECKED_ASSIGN(double real, realSteps(data, *read->data, 0));
  return real;
}

} // namespace lstmc::driver
