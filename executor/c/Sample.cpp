#include "executor/c/CallerStruct.h"
#include "executor/c/Guard.h"
#include "executor/c/TrainHandles.h"
#include "executor/training/KeptStates.h"
#include "executor/training/Sampling.h"

using namespace lstmc;

namespace {

Result<training::Sampling> samplingOf(const lstmc_sample_options &given) {
  if (given.size < sizeof given || !c::restIsZero(given))
    return fail(ErrorCode::E0001, "sample options: found size {}, of which lstmc {} knows {}",
                given.size, LSTMC_VERSION, sizeof given);
  if (given.length < 0 || !(given.temperature >= 0) || given.top_k < 0 ||
      !(given.top_p >= 0 && given.top_p <= 1))
    return fail(ErrorCode::E0001,
                "found length {}, temperature {}, top_k {} and top_p {}, want numbers from 0, and "
                "top_p to 1",
                given.length, given.temperature, given.top_k, given.top_p);
  training::Sampling sampling;
  sampling.prime = given.prime ? given.prime : "";
  sampling.length = given.length;
  sampling.temperature = given.temperature;
  sampling.topK = given.top_k;
  sampling.topP = given.top_p;
  sampling.seed = given.seed;
  return sampling;
}

} // namespace

extern "C" {

lstmc_status lstmc_sample(lstmc_session *session, const lstmc_vocabulary *vocabulary,
                          const lstmc_sample_options *options,
                          int (*take)(void *user, const char *text, size_t size), void *user) {
  if (!session || !vocabulary || !options || !take)
    return c::nullArgument();
  return c::guarded([&]() -> Status {
    if (session->inTraining)
      return fail(ErrorCode::E0001, "found a training of the session that has not ended, want its "
                                    "end before sampling");
    LSTMC_ASSIGN(const training::Sampling sampling, samplingOf(*options));
    const training::KeptStates kept(*session->session);
    bool ended = false;
    const Result<int64_t> drawn = training::sampleText(
        *session->session, vocabulary->vocabulary, vocabulary->unit, sampling,
        [&](std::string_view piece) {
          ended = ended || take(user, piece.data(), piece.size()) != 0;
          return Status();
        },
        [&] { return !ended; });
    kept.putBack();
    return drawn.status();
  });
}
}
