#include "frontend/driver/Buckets.h"

#include "executor/base/Checked.h"
#include "executor/training/BucketedTrainable.h"

namespace lstmc::driver {

std::vector<package::Package::Pointer> Buckets::packages() const {
  std::vector<package::Package::Pointer> all;
  for (const Model &model : shorter)
    all.push_back(model.package);
  return all;
}

Checked<Buckets> compileBuckets(const std::string &path, std::vector<int64_t> steps,
                                const CompileRequest &options, ModelRequest request) {
  Buckets buckets{std::move(steps), {}, {}};
  request.entries = {"step"};
  for (size_t i = 0; i + 1 < buckets.steps.size(); ++i) {
    request.bucket = buckets.steps[i];
    LSTMC_CHECKED_ASSIGN(buckets.shorter.emplace_back(), loadModel(path, options, request));
  }
  return buckets;
}

Result<std::unique_ptr<training::Trainable>> openBuckets(Buckets &buckets, Session &longest,
                                                         const RunRequest &options) {
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

} // namespace lstmc::driver
