#include "frontend/driver/AsyncStore.h"

#include <array>
#include <filesystem>

#include "executor/abi/Schedules.h"
#include "executor/ranks/Job.h"
#include "executor/stores/NetworkDigest.h"
#include "executor/stores/Replay.h"
#include "executor/stores/Server.h"
#include "executor/stores/Spread.h"
#include "executor/stores/Worker.h"
#include "executor/training/Signals.h"
#include "frontend/driver/Layout.h"
#include "frontend/driver/Ranks.h"

namespace lstmc::driver {

bool saysAsync(const LayoutOptions &options) {
  return *options.kvStore == "dist_async" || *options.kvStore == "dist_async_device";
}

namespace {

std::string logPath(const OutputOptions &options) {
  return options.output ? *options.output + "/replay.log" : "";
}

/// Rows of a batch of the network's `step`.
Result<int64_t> batchOf(const package::PackageData &data) {
  for (const package::Entry &entry : data.entries)
    for (const package::Binding &input : entry.inputs)
      for (size_t axis = 0; entry.name == "step" && axis < input.dims.size(); ++axis)
        if (input.dims[axis] == "batch")
          return data.buffers[input.buffer].shape[axis];
  return fail(ErrorCode::E0001, "dist_async shares a batch out to workers, and no input of the "
                                "network has a dim \"batch\"");
}

Status refuseFlags(const TrainRequest &options) {
  const std::array<std::pair<bool, std::string_view>, 4> useless{
      {{options.checkReplicas.given(), "check-replicas"},
       {options.checkNan, "check-nan"},
       {options.monitor.has_value(), "monitor"},
       {options.lrFind, "lr-find"}}};
  for (const auto &[given, name] : useless)
    if (given)
      return fail(ErrorCode::E0001,
                  "--{} is not for asynchronous updates: workers do not run whole "
                  "updates",
                  name);
  if (*options.updateOnKvstore == UpdatePlace::Devices)
    return fail(ErrorCode::E0001,
                "--update-on-kvstore 0: with {} the servers update, as gradients "
                "come; 1 or auto",
                *options.kvStore);
  if (options.replay && options.resume)
    return fail(ErrorCode::E0001,
                "--replay begins with the first update and --resume goes on: give "
                "one of them");
  return {};
}

} // namespace

Result<std::optional<AsyncStore>> asyncStoreAsked(const TrainRequest &options) {
  AsyncStore store;
  LSTMC_ASSIGN(store.threshold, compressionAsked(options));
  store.bigArrayBound = *options.bigarrayBound;
  store.staleness = *options.staleness;
  if (options.replay) {
    LSTMC_ASSIGN(store.replay, stores::ReplayLog::read(*options.replay));
    const stores::ReplayHead &head = store.replay->head;
    if (jobRanks() > 1)
      return fail(ErrorCode::E0001, "--replay runs in one process, found {} ranks", jobRanks());
    if (head.servers == 0 && head.compression > 0)
      return failAt(
          {*options.replay}, ErrorCode::E0610,
          "compression: found {} of {} ranks without staleness, which one process does not "
          "repeat: lstmc launch -n {} with --kv-store dist_sync does, always alike",
          head.compression, head.workers, head.workers);
    store.cluster = {head.workers, head.servers};
    store.staleness = head.staleness;
    store.bigArrayBound = head.bigArrayBound;
    if (options.gradientCompression.given() && store.threshold != head.compression)
      return failAt({*options.replay}, ErrorCode::E0610,
                    "threshold of --gradient-compression: found {}, want {} as in this run",
                    head.compression, store.threshold);
  } else {
    store.cluster = {jobRanks() - jobServers(), jobServers()};
  }
  if (store.cluster.servers == 0)
    return std::optional<AsyncStore>(); // dist_sync, or none of these
  LSTMC_TRY(refuseFlags(options));
  return std::optional(store);
}

Checked<TrainRequest> optionsOfWorker(const TrainRequest &options, AsyncStore &store,
                                      const std::function<Checked<Model>()> &network) {
  TrainRequest own = options;
  if (options.batch.given()) {
    LSTMC_CHECKED_ASSIGN(store.batch, Count::parse("batch", *options.batch));
    if (store.replay && store.batch != store.replay->head.batch)
      return asDiagnostic(failAt({*options.replay}, ErrorCode::E0610,
                                 "batch: found {}, want {} as in this run",
                                 store.replay->head.batch, store.batch));
  } else if (store.replay) {
    store.batch = store.replay->head.batch;
  } else {
    LSTMC_CHECKED_ASSIGN(Model model, network());
    LSTMC_CHECKED_ASSIGN(store.batch, batchOf(model.package->data()));
  }
  if (store.batch < store.cluster.workers || store.batch % store.cluster.workers != 0)
    return asDiagnostic(fail(ErrorCode::E0001,
                             "a batch of {} cannot be shared evenly by {} workers: --batch N",
                             store.batch, store.cluster.workers));
  own.batch = std::to_string(store.batch / store.cluster.workers);
  return own;
}

Status checkAsync(const training::TrainOptions &train) {
  for (const training::Amount &amount :
       {train.after, train.validEvery, train.saveEvery, train.dispEvery})
    if (amount.unit == training::Amount::Unit::Seconds)
      return fail(ErrorCode::E0001,
                  "{}: workers that do not wait for one another agree on updates, "
                  "not on seconds",
                  amount.text());
  if (train.fit.schedule.kind == ScheduleKind::Plateau)
    return fail(ErrorCode::E0001, "lr_scheduler plateau follows validations, which servers of "
                                  "dist_async do not see");
  return {};
}

Result<std::unique_ptr<training::Trainable>>
asyncTrainable(const AsyncStore &store, const TrainRequest &options, Session &session,
               Session *second, const data::DataSet &data, const training::TrainOptions &train) {
  LSTMC_TRY(checkAsync(train));
  if (store.replay) {
    LSTMC_ASSIGN(std::unique_ptr<stores::Replay> replay,
                 stores::Replay::create(session, *second, data, train.fit, *store.replay,
                                        *options.replay, train.seed));
    return std::unique_ptr<training::Trainable>(std::move(replay));
  }
  std::error_code unknown;
  if (train.resume && std::filesystem::exists(logPath(options), unknown))
    LSTMC_TRY(stores::checkNumbers(logPath(options), store.cluster.workers, store.cluster.servers));
  stores::WorkerOptions worker{
      store.cluster,       store.staleness,
      store.bigArrayBound, store.batch,
      train.seed,          store.threshold,
      logPath(options),    [] { return training::SignalWatch::pending(); }};
  LSTMC_ASSIGN(std::unique_ptr<stores::Worker> made,
               stores::Worker::create(session, joinedJob().link(), std::move(worker)));
  joinedJob().watch([&worker = *made, &session] {
    Standing standing = session.standing();
    standing.progress += worker.progress();
    return standing;
  });
  return std::unique_ptr<training::Trainable>(std::move(made));
}

Status leaveServers(training::Trainable &trainable) {
  auto *worker = dynamic_cast<stores::Worker *>(&trainable);
  if (!worker)
    return {};
  joinedJob().watch(nullptr);
  return worker->leave();
}

bool isServer(const AsyncStore &store) {
  return !store.replay && jobRank() >= store.cluster.workers;
}

Status serve(const AsyncStore &store, Session &session, const training::FitSettings &fit) {
  const int index = jobRank() - store.cluster.workers;
  LSTMC_ASSIGN(session::SplitStep step, session::SplitStep::create(session));
  const auto keys = stores::spreadKeys(step, store.cluster.servers, store.bigArrayBound);
  LSTMC_ASSIGN(std::unique_ptr<stores::KeyStore> own,
               stores::KeyStore::create(session, step,
                                        stores::KeyParts(step, stores::keysOf(keys, index)), fit));
  stores::Server server(joinedJob().link(), store.cluster.workers, session.package().digest(), *own,
                        index == 0);
  joinedJob().watch([&server] { return server.standing(); });
  // The workers bring it, and say after which update they end.
  const training::SignalWatch signals;
  Status status = server.serve();
  joinedJob().watch(nullptr);
  return status;
}

std::string storeText(const AsyncStore &store) {
  auto counted = [](int count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  return fmt::format(
      "{}, {}, staleness {}, {} rows of {} each{}", counted(store.cluster.workers, "worker"),
      counted(store.cluster.servers, "server"), store.staleness,
      store.batch / store.cluster.workers, store.batch, store.replay ? ", replayed" : "");
}

Status writeSynchronousLog(const TrainRequest &options, const training::TrainOptions &train,
                           const package::Package &package, const data::DataSet &data,
                           const training::EndEvent &end) {
  if (!saysAsync(options) || *options.staleness != 0 || jobRank() != 0 || !options.output)
    return {};
  LSTMC_ASSIGN(int64_t batch, batchOf(package.data()));
  LSTMC_ASSIGN(double threshold, compressionAsked(options));
  const stores::ReplayHead head{jobRanks(),
                                0,
                                0,
                                batch,
                                *options.bigarrayBound,
                                train.seed,
                                stores::networkDigest(package),
                                "-",
                                data.digest(),
                                threshold};
  LSTMC_ASSIGN(stores::ReplayWriter log, stores::ReplayWriter::open(logPath(options), head, 0));
  return log.finish({end.progress.update, end.weightsHash});
}

} // namespace lstmc::driver
