#include "frontend/driver/InitParams.h"

#include <algorithm>
#include <filesystem>

#include <fmt/ranges.h>

#include "executor/data/ArrayFile.h"
#include "executor/session/NonFinite.h"

namespace lstmc::driver {

namespace fs = std::filesystem;

namespace {

/// The tensors of a file of arrays, or of a checkpoint.
class Tensors {
public:
  static Result<Tensors> load(const std::string &path, const InputOptions &options) {
    LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
    Tensors tensors;
    std::error_code error;
    if (fs::is_directory(path, error)) {
      LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(path, limits));
      tensors.checkpoint_ = std::move(found.checkpoint);
      for (const data::TensorRecord &record : tensors.checkpoint_->model.records())
        tensors.names_.push_back(record.name);
      return tensors;
    }
    LSTMC_ASSIGN(tensors.file_, data::ArrayFile::load(path, limits));
    for (size_t i = 0; i < tensors.file_->size(); ++i)
      tensors.names_.push_back(tensors.file_->name(i));
    return tensors;
  }

  const std::vector<std::string> &names() const { return names_; }
  std::optional<data::Array> find(const std::string &name) const {
    if (file_)
      return file_->find(name);
    const data::TensorRecord *record = checkpoint_->model.find(name);
    return record ? std::optional(checkpoint_->model.array(*record)) : std::nullopt;
  }
  /// What its data taught a checkpoint; nothing of a file of arrays.
  Result<data::Learned> learned() const {
    return checkpoint_ ? training::learnedFrom(*checkpoint_) : data::Learned();
  }

private:
  std::optional<training::Checkpoint> checkpoint_;
  data::ArrayFile::Pointer file_;
  std::vector<std::string> names_;
};

} // namespace

static std::string typeText(DType dtype, std::span<const int64_t> shape) {
  return fmt::format("{}{}", dtypeLongName(dtype), data::shapeText(shape));
}

Result<FoundParameters> initParams(Session &session, const std::string &path,
                                   const InputOptions &options, const data::Learned &learned) {
  LSTMC_ASSIGN(Tensors tensors, Tensors::load(path, options));
  std::vector<std::string> missing, others, unused, initialised;
  bool hasPieces = false; // of a parameter
  size_t matched = 0;
  const auto &parameters = session.package().data().parameters;
  for (const package::Parameter &parameter : parameters) {
    std::optional<data::Array> found = tensors.find(parameter.name);
    if (!found) {
      missing.push_back(parameter.name);
      initialised.push_back(parameter.name);
      continue;
    }
    LSTMC_ASSIGN(Tensor here, session.parameter(parameter.name));
    data::Array &array = *found;
    if (array.dtype != here.dtype || !std::ranges::equal(array.shape, data::shapeOf(here))) {
      others.push_back(fmt::format("{} ({} there, {} here)", parameter.name,
                                   typeText(array.dtype, array.shape),
                                   typeText(here.dtype, data::shapeOf(here))));
      initialised.push_back(parameter.name);
      continue;
    }
    if (session::firstNonFinite(array.tensor()))
      return failAt({path}, ErrorCode::E0701, "parameter \"{}\": found a value that is not finite",
                    parameter.name);
    LSTMC_TRY(session.setParameter(parameter.name, array.tensor()));
    ++matched;
    hasPieces |= std::ranges::find(tensors.names(), parameter.name) == tensors.names().end();
  }
  for (const std::string &name : tensors.names())
    if (!hasPieces &&
        std::ranges::find(parameters, name, &package::Parameter::name) == parameters.end())
      unused.push_back(name);
  if (matched == 0)
    return failAt({path}, ErrorCode::E0610,
                  "weights: found none of the network's {} parameters by name and shape{}{}",
                  parameters.size(), others.empty() ? "" : "; of another shape ",
                  fmt::join(others, ", "));
  FoundParameters all{matched, parameters.size(), {}, std::move(initialised)};
  auto list = [&](std::string_view what, const std::vector<std::string> &names) {
    if (!names.empty())
      all.others.push_back(fmt::format("{} {}", what, fmt::join(names, ", ")));
  };
  list("not there, so initialised:", missing);
  list("of another shape, so initialised:", others);
  list("there, but not in this network:", unused);
  LSTMC_ASSIGN(const data::Learned known, tensors.learned());
  if (const std::string why = whyUnlike(known, learned); !why.empty())
    all.others.push_back("its data and these have other meanings: " + why);
  if (Peers *peers = session.peers())
    LSTMC_TRY(
        agree(*peers, "hash of the weights given", fmt::format("{:016x}", session.givenHash())));
  return all;
}

} // namespace lstmc::driver
