#include "frontend/cli/CompilerFailure.h"

#include <cstring>
#include <string_view>

#include <unistd.h>

#include "llvm/Support/ErrorHandling.h"

#include "executor/base/Errors.h"
#include "executor/base/OutputFile.h"
#include "executor/base/StandardStreams.h"
#include "executor/base/Termination.h"

namespace lstmc::cli {

static void onFatalError(void *, const char *reason, bool) {
  removeTemporaryFiles();
  std::string_view text = reason;
  bool output = text.starts_with("IO failure on output stream");
  if (output && text.ends_with(std::strerror(EPIPE)))
    ::_exit(int(ExitCode::Ok)); // a result's reader that leaves ends the work quietly
  writeMessage(output ? "error[E0601]: " : "error[E0099]: ");
  writeMessage(text);
  writeMessage("\n");
  ::_exit(int(output ? ExitCode::File : ExitCode::Internal));
}

static void onBadAlloc(void *, const char *, bool) { exitOutOfMemory(); }

void handleCompilerFailures() {
  llvm::install_fatal_error_handler(onFatalError);
  llvm::install_bad_alloc_error_handler(onBadAlloc);
}

} // namespace lstmc::cli
