#include "executor/base/Termination.h"

#include <exception>
#include <new>

#include <unistd.h>

#include "executor/base/Errors.h"
#include "executor/base/OutputFile.h"
#include "executor/base/StandardStreams.h"

namespace lstmc {

void exitOutOfMemory() {
  removeTemporaryFiles();
  writeMessage("error[E0901]: out of memory\n");
  ::_exit(int(ExitCode::OutOfMemory));
}

static void onTerminate() {
  if (std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc &) {
      exitOutOfMemory();
    } catch (const std::exception &exception) {
      writeMessage("error[E0099]: ");
      writeMessage(exception.what());
    } catch (...) {
      writeMessage("error[E0099]: an exception of an unknown kind");
    }
  } else {
    writeMessage("error[E0099]: the program was asked to end");
  }
  writeMessage("\n");
  removeTemporaryFiles();
  ::_exit(int(ExitCode::Internal));
}

void exitOnTerminate() { std::set_terminate(onTerminate); }

} // namespace lstmc
