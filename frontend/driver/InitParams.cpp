#include "frontend/driver/InitParams.h"

#include <algorithm>
#include <filesystem>

#include <fmt/ranges.h>

#include "executor/data/ArrayFile.h"
#include "executor/session/NonFinite.h"

namespace lstmc::driver {

namespace fs = std::filesystem;

/// All tensors of a file, in its order.
static Result<std::vector<data::NamedArray>> tensorsOf(const std::string &path,
                                                       const InputOptions &options) {
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  std::vector<data::NamedArray> all;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(path, limits));
    const data::SafeTensors &tensors = found.checkpoint.model;
    for (const data::TensorRecord &record : tensors.records())
      all.push_back({record.name, tensors.array(record)});
    return all;
  }
  LSTMC_ASSIGN(data::ArrayFile::Pointer file, data::ArrayFile::load(path, limits));
  for (size_t i = 0; i < file->size(); ++i)
    if (std::optional<data::Array> array = file->array(i))
      all.push_back({file->name(i), std::move(*array)});
  return all;
}

static std::string typeText(DType dtype, std::span<const int64_t> shape) {
  return fmt::format("{}{}", dtypeLongName(dtype), data::shapeText(shape));
}

Result<FoundParameters> initParams(Session &session, const std::string &path,
                                   const InputOptions &options) {
  LSTMC_ASSIGN(std::vector<data::NamedArray> tensors, tensorsOf(path, options));
  std::vector<std::string> missing, others, unused;
  size_t matched = 0;
  const auto &parameters = session.package().data().parameters;
  for (const package::Parameter &parameter : parameters) {
    auto found = std::ranges::find(tensors, parameter.name, &data::NamedArray::name);
    if (found == tensors.end()) {
      missing.push_back(parameter.name);
      continue;
    }
    LSTMC_ASSIGN(Tensor here, session.parameter(parameter.name));
    data::Array &array = found->array;
    if (array.dtype != here.dtype || !std::ranges::equal(array.shape, data::shapeOf(here))) {
      others.push_back(fmt::format("{} ({} there, {} here)", parameter.name,
                                   typeText(array.dtype, array.shape),
                                   typeText(here.dtype, data::shapeOf(here))));
      continue;
    }
    if (session::firstNonFinite(array.tensor()))
      return failAt({path}, ErrorCode::E0701, "parameter \"{}\": found a value that is not finite",
                    parameter.name);
    LSTMC_TRY(session.setParameter(parameter.name, array.tensor()));
    ++matched;
  }
  for (const data::NamedArray &tensor : tensors)
    if (std::ranges::find(parameters, tensor.name, &package::Parameter::name) == parameters.end())
      unused.push_back(tensor.name);
  if (matched == 0)
    return failAt({path}, ErrorCode::E0610,
                  "weights: found none of the network's {} parameters by name and shape{}{}",
                  parameters.size(), others.empty() ? "" : "; of another shape ",
                  fmt::join(others, ", "));
  FoundParameters all{matched, parameters.size(), {}};
  auto list = [&](std::string_view what, const std::vector<std::string> &names) {
    if (!names.empty())
      all.others.push_back(fmt::format("{} {}", what, fmt::join(names, ", ")));
  };
  list("not there, so initialised:", missing);
  list("of another shape, so initialised:", others);
  list("there, but not in this network:", unused);
  if (Peers *peers = session.peers())
    LSTMC_TRY(
        agree(*peers, "hash of the weights given", fmt::format("{:016x}", session.givenHash())));
  return all;
}

} // namespace lstmc::driver
