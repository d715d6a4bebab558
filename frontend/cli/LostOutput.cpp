#include "frontend/cli/LostOutput.h"

#include <mutex>
#include <optional>

#include "executor/base/Escape.h"
#include "executor/base/StandardStreams.h"

namespace lstmc::cli {

static std::mutex mutex;
static std::optional<Error> first; ///< under the mutex

void reportLost(const Error &error) {
  {
    const std::lock_guard lock(mutex);
    if (first)
      return;
    first = error;
  }
  writeMessage(escaped("warning: " + error.text(), true) + "\n");
}

Status lostStatus() {
  const std::lock_guard lock(mutex);
  return first ? Status(*first) : Status();
}

ExitCode withLost(ExitCode done) {
  const bool good = done == ExitCode::Ok || done == ExitCode::AnswerIsNo;
  return good && !lostStatus().ok() ? ExitCode::File : done;
}

} // namespace lstmc::cli
