#include "frontend/cli/Buckets.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "executor/training/BucketedTrainable.h"
#include "frontend/cli/CommandResult.h"
#include "frontend/symbol/View.h"

namespace lstmc::cli {

Checked<std::string> dimOfSteps(const symbol::Network &net) {
  std::vector<std::string> names;
  for (const symbol::InputView &input : symbol::view(*net.graph).inputs) {
    auto named = std::ranges::find(input.shape.dims, "batch", &symbol::Dim::name);
    if (named == input.shape.dims.end())
      named = input.shape.dims.begin();
    for (auto dim = input.shape.dims.begin(); dim != input.shape.dims.end(); ++dim)
      if (dim != named && !dim->name.empty() && std::ranges::find(names, dim->name) == names.end())
        names.push_back(dim->name);
  }
  if (names.size() == 1)
    return names[0];
  Diagnostic error;
  error.code = ErrorCode::E0214;
  error.message = names.empty()
                      ? std::string("buckets= needs a dim for the steps of the inputs, found none")
                      : fmt::format("buckets= needs one dim for the steps of the inputs, found {}",
                                    fmt::join(names, ", "));
  if (names.empty())
    error.help = "T = dim(\"seq\", 40), and int32[N, T] as the type of the input";
  for (const symbol::Setting &setting : net.data)
    if (setting.key == "buckets")
      error.place = setting.origin;
  return error;
}

std::vector<package::Package::Pointer> Buckets::packages() const {
  std::vector<package::Package::Pointer> all;
  for (const Model &model : shorter)
    all.push_back(model.package);
  return all;
}

Checked<Buckets> compileBuckets(std::vector<int64_t> steps, const Options &options,
                                ModelRequest request) {
  Buckets buckets{std::move(steps), {}, {}};
  request.entries = {"step"};
  for (size_t i = 0; i + 1 < buckets.steps.size(); ++i) {
    request.bucket = buckets.steps[i];
    LSTMC_CHECKED_ASSIGN(buckets.shorter.emplace_back(), loadModel(options, request));
  }
  return buckets;
}

Result<std::unique_ptr<training::Trainable>> openBuckets(Buckets &buckets, Session &longest,
                                                         const Options &options) {
  std::vector<Session *> all;
  for (const Model &model : buckets.shorter) {
    LSTMC_ASSIGN(std::unique_ptr<Session> session, openBeside(longest, model, options));
    all.push_back(buckets.sessions.emplace_back(std::move(session)).get());
  }
  all.push_back(&longest);
  LSTMC_ASSIGN(std::unique_ptr<training::BucketedTrainable> model,
               training::BucketedTrainable::create(all));
  return std::unique_ptr<training::Trainable>(std::move(model));
}

} // namespace lstmc::cli
