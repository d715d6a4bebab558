#include "frontend/cli/Buckets.h"

#include "executor/training/BucketedTrainable.h"
#include "frontend/cli/CommandResult.h"

namespace lstmc::cli {

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
