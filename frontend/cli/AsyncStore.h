// train with --kv-store dist_async, and --replay of its log.
#pragma once

#include <memory>
#include <optional>

#include "executor/session/Session.h"
#include "executor/stores/Protocol.h"
#include "executor/stores/ReplayLog.h"
#include "executor/training/Trainable.h"
#include "executor/training/Trainer.h"
#include "frontend/cli/CommandResult.h"
#include "frontend/cli/Console.h"
#include "frontend/cli/DataFlags.h"
#include "frontend/cli/Operand.h"
#include "frontend/cli/Options.h"

namespace lstmc::cli {

/// Servers that `launch` starts for a command by --servers, as many as workers where it is not
/// given; 0 where the command needs none. E0001.
Result<int> serversFor(const Options &command, std::optional<int64_t> asked, int64_t workers);

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
Result<std::optional<AsyncStore>> asyncStoreAsked(const Options &options);

/// The same flags with the batch of one worker. `network`: compiled with the flags as they are, for
/// the batch that it has by itself; asked for where they do not say one. E0001 where the workers
/// cannot share it evenly.
Checked<Options> optionsOfWorker(const Options &options, AsyncStore &store,
                                 const std::function<Checked<Model>()> &network);

/// E0001 where time, or a validation's loss, decides over what each worker has to do alike.
Status checkAsync(const training::TrainOptions &train);

/// What the loop trains: this worker, or the replay of all. `second`: for a replay, another session
/// like the first.
Result<std::unique_ptr<training::Trainable>>
asyncTrainable(const AsyncStore &store, const Options &options, Session &session, Session *second,
               const data::DataSet &data, const training::TrainOptions &train);

/// Whether the workers of a job do not wait for one another.
bool saysAsync(const Options &options);
/// Whether this process is a server.
bool isServer(const AsyncStore &store);
/// Serves until all workers have ended.
Status serve(const AsyncStore &store, Session &session, const training::FitSettings &fit);
/// The worker has nothing more to ask.
Status leaveServers(training::Trainable &trainable);

/// "2 workers, 1 server, staleness 8"
std::string storeText(const AsyncStore &store);

/// Logs `dist_async` without staleness, which is dist_sync: one line for that, and the end.
Status writeSynchronousLog(const Options &options, const training::TrainOptions &train,
                           const package::Package &package, const data::DataSet &data,
                           const training::EndEvent &end);

} // namespace lstmc::cli
