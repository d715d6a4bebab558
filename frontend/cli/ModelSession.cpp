// A model with devices, memory and weights.
#include <filesystem>

#include "backends/registry/Devices.h"
#include "executor/package/Plan.h"
#include "executor/session/Values.h"
#include "frontend/cli/DeviceFlags.h"
#include "frontend/cli/Model.h"

namespace lstmc::cli {

namespace fs = std::filesystem;

/// --params, else a checkpoint's own, else F.safetensors beside F.lstmc, else what initialise()
/// gave.
static Status bindWeights(Session &session, const Model &model, const Options &options) {
  std::error_code error;
  LSTMC_ASSIGN(lstmc::Limits limits, fileLimits(options));
  std::optional<std::string> params = options.value("params");
  if (params && fs::is_directory(*params, error)) {
    LSTMC_ASSIGN(training::FoundCheckpoint found, training::findCheckpoint(*params));
    return session::bindWeights(session, found.checkpoint.model);
  }
  if (params)
    return session::bindWeights(session, *params, limits);
  if (model.checkpoint)
    return session::bindWeights(session, model.checkpoint->model);
  std::string beside = fs::path(model.path).replace_extension(".safetensors").string();
  if (model.path.ends_with(".lstmc") && fs::exists(beside, error))
    return session::bindWeights(session, beside, limits);
  return {};
}

Result<uint64_t> seedInForce(const Model &model, const Options &options) {
  std::string text =
      options.value("seed").value_or(findSetting(model.fit, "seed").value_or(options.text("seed")));
  LSTMC_ASSIGN(int64_t seed, parseCount("seed", text));
  return uint64_t(seed);
}

Result<std::unique_ptr<Session>> openSession(const Model &model, const Options &options,
                                             Engine engine) {
  LSTMC_ASSIGN(int64_t threads, options.countInForce("threads"));
  if (threads > 1024)
    return fail(ErrorCode::E0001, "--threads takes 1 to 1024, got {}", threads);
  LSTMC_ASSIGN(uint64_t seed, seedInForce(model, options));
  LSTMC_ASSIGN(std::vector<DeviceName> names,
               options.has("devices") && !model.compiled
                   ? devicesAsked(options)
                   : parseDevices(package::deviceList(model.package->data())));
  LSTMC_ASSIGN(auto devices, makeDevices(names, {.threads = int(threads), .engine = engine}));
  SessionOptions sessionOptions;
  sessionOptions.oneThread = engine == Engine::Naive;
  sessionOptions.seed = seed;
  sessionOptions.checkNan = options.has("check-nan");
  LSTMC_ASSIGN(std::unique_ptr<Session> session,
               Session::create(model.package, std::move(devices), sessionOptions));
  LSTMC_TRY(session->initialise(seed));
  LSTMC_TRY(bindWeights(*session, model, options));
  return session;
}

Result<std::optional<data::Vocabulary>> modelVocabulary(const Model &model) {
  if (!model.checkpoint)
    return std::optional<data::Vocabulary>();
  auto found = model.checkpoint->attachments.find(std::string(training::kVocabularyFile));
  if (found == model.checkpoint->attachments.end())
    return std::optional<data::Vocabulary>();
  std::string_view text(reinterpret_cast<const char *>(found->second.data()), found->second.size());
  LSTMC_ASSIGN(data::Vocabulary vocabulary,
               data::Vocabulary::parse(text, model.checkpoint->folder + "/" +
                                                 std::string(training::kVocabularyFile)));
  return std::optional<data::Vocabulary>(std::move(vocabulary));
}

} // namespace lstmc::cli
