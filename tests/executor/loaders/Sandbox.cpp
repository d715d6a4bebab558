#include "tests/executor/loaders/Sandbox.h"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace lstmc::test {
namespace {

using Program = std::vector<sock_filter>;

sock_filter load(size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, uint32_t(offset)); }

sock_filter answer(uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }

/// The low half of an argument, which contains the flags.
size_t argument(int index) { return offsetof(seccomp_data, args) + 8 * size_t(index); }

void refuse(Program &program, long call, uint32_t action = SECCOMP_RET_KILL_PROCESS) {
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, 1));
  program.push_back(answer(action));
}

/// Ends the process if any of `bits` is set in the argument, or if none is.
void refuseBits(Program &program, long call, int index, uint32_t bits, bool whenSet) {
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, 4));
  program.push_back(load(argument(index)));
  program.push_back(
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, uint8_t(!whenSet), uint8_t(whenSet)));
  program.push_back(answer(SECCOMP_RET_KILL_PROCESS));
  program.push_back(answer(SECCOMP_RET_ALLOW));
}

bool installFilter() {
  Program program;
  program.push_back(load(offsetof(seccomp_data, arch)));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
  program.push_back(answer(SECCOMP_RET_KILL_PROCESS));
  program.push_back(load(offsetof(seccomp_data, nr)));
  for (long call :
       {SYS_execve, SYS_execveat, SYS_fork, SYS_vfork, SYS_ptrace, SYS_socket, SYS_connect,
        SYS_bind, SYS_memfd_create, SYS_process_vm_writev, SYS_creat, SYS_openat2})
    refuse(program, call);
  // A filter cannot read the flags of clone3, which are in memory; the C library then uses clone.
  refuse(program, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
  refuseBits(program, SYS_clone, 0, CLONE_THREAD, false);
  refuseBits(program, SYS_mmap, 2, PROT_EXEC, true);
  refuseBits(program, SYS_mprotect, 2, PROT_EXEC, true);
  refuseBits(program, SYS_pkey_mprotect, 2, PROT_EXEC, true);
  refuseBits(program, SYS_open, 1, O_WRONLY | O_RDWR | O_CREAT, true);
  refuseBits(program, SYS_openat, 2, O_WRONLY | O_RDWR | O_CREAT, true);
  program.push_back(answer(SECCOMP_RET_ALLOW));
  sock_fprog filter{uint16_t(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

} // namespace

int inSandbox(const std::function<int()> &child) {
  constexpr int kNoFilter = 125;
  pid_t process = ::fork();
  if (process == 0)
    ::_exit(installFilter() ? child() : kNoFilter);
  int status = 0;
  ::waitpid(process, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace lstmc::test
