// train with --kv-store dist_async, and --replay of its log.
#pragma once

#include <memory>
#include <optional>

#include "executor/base/Checked.h"
#include "executor/session/Session.h"
#include "executor/stores/Protocol.h"
#include "executor/stores/ReplayLog.h"
#include "executor/training/Trainable.h"
#include "executor/training/Trainer.h"
#include "frontend/driver/Data.h"
#include "frontend/driver/Model.h"
#include "frontend/driver/Request.h"

namespace lstmc::driver {

/// A training whose updates are applied as they come, or were.
struct AsyncStore {
  stores::Cluster cluster;
  int64_t staleness = 0, bigArrayBound = 0;
  int64_t batch = 0;                       ///< rows of all workers
  double threshold = 0;                    ///< of --gradient-compression; 0: none
  std::optional<stores::ReplayLog> replay; ///< of --replay
};

/// What this process is to train in that way; none where updates are not asynchronous. E0001 for
/// flags that such a training has no use for, E0601 and its kind for the log.
Result<std::optional<AsyncStore>> asyncStoreAsked(const TrainRequest &options);

/// The same flags with the batch of one worker. `network`: compiled with the flags as they are, for
/// the batch that it has by itself; asked for where they do not say one. E0001 where the workers
/// cannot share it evenly.
Checked<TrainRequest> optionsOfWorker(const TrainRequest &options, AsyncStore &store,
                                      const std::function<Checked<Model>()> &network);

/// E0001 where time, or a validation's loss, decides over what each worker has to do alike.
Status checkAsync(const training::TrainOptions &train);

/// What the loop trains: this worker, or the replay of all. `second`: for a replay, another session
/// like the first.
Result<std::unique_ptr<training::Trainable>>
asyncTrainable(const AsyncStore &store, const TrainRequest &options, Session &session,
               Session *second, const data::DataSet &data, const training::TrainOptions &train);

/// Whether the workers of a job do not wait for one another.
bool saysAsync(const LayoutOptions &options);
/// Whether this process is a server.
bool isServer(const AsyncStore &store);
/// Serves until all workers have ended.
Status serve(const AsyncStore &store, Session &session, const training::FitSettings &fit);
/// The worker has nothing more to ask.
Status leaveServers(training::Trainable &trainable);

/// "2 workers, 1 server, staleness 8"
std::string storeText(const AsyncStore &store);

/// Logs `dist_async` without staleness, which is dist_sync: one line for that, and the end.
Status writeSynchronousLog(const TrainRequest &options, const training::TrainOptions &train,
                           const package::Package &package, const data::DataSet &data,
                           const training::EndEvent &end);

} // namespace lstmc::driver
