#include "frontend/launch/SingleCopy.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lstmc::launch {

namespace {

constexpr int kWritten = 4711;
volatile int place = 0;

/// Forks a process that writes to its own copy of `place`, signals that by `said`, and waits to be
/// killed.
pid_t startOwner(int said) {
  const pid_t parent = ::getpid(), owner = ::fork();
  if (owner != 0)
    return owner;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent)
    ::_exit(1);
  place = kWritten;
  const char byte = 0;
  if (::write(said, &byte, 1) != 1)
    ::_exit(1);
  for (;;)
    ::pause();
}

pid_t startReader(pid_t owner) {
  const pid_t reader = ::fork();
  if (reader != 0)
    return reader;
  int found = 0;
  const iovec mine{&found, sizeof(found)};
  const iovec theirs{const_cast<int *>(&place), sizeof(place)};
  const bool reads = ::process_vm_readv(owner, &mine, 1, &theirs, 1, 0) == ssize_t(sizeof(found));
  ::_exit(reads && found == kWritten ? 0 : 1);
}

int statusOf(pid_t child) {
  int status = 1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

} // namespace

bool processesReadOneAnother() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return false;
  const pid_t owner = startOwner(ends[1]);
  ::close(ends[1]);
  char byte = 0;
  const bool ready = owner > 0 && ::read(ends[0], &byte, 1) == 1;
  ::close(ends[0]);
  const pid_t reader = ready ? startReader(owner) : -1;
  const bool reads = reader > 0 && statusOf(reader) == 0;
  if (owner > 0) {
    ::kill(owner, SIGKILL);
    statusOf(owner);
  }
  return reads;
}

} // namespace lstmc::launch
