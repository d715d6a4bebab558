#include "executor/base/ConfinedProcess.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace lstmc {

namespace {

/// Of the file system: rights that Landlock can withhold, by its version.
uint64_t withheld(long version) {
  uint64_t rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  if (version >= 2)
    rights |= uint64_t(1) << 13; // to link and rename
  if (version >= 3)
    rights |= uint64_t(1) << 14; // to truncate
  return rights;
}

long landlockVersion() {
  return ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

bool allowReading(int rules, const std::string &path) {
  const int file = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (file < 0)
    return true; // its reader will say so
  struct stat status{};
  const bool folder = ::fstat(file, &status) == 0 && S_ISDIR(status.st_mode);
  landlock_path_beneath_attr rule{};
  rule.allowed_access =
      LANDLOCK_ACCESS_FS_READ_FILE | (folder ? uint64_t(LANDLOCK_ACCESS_FS_READ_DIR) : 0);
  rule.parent_fd = file;
  const bool well =
      ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
  ::close(file);
  return well;
}

bool closeFiles(const std::vector<std::string> &readable) {
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = withheld(landlockVersion());
  const int rules = int(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
  if (rules < 0)
    return false;
  for (const std::string &path : readable)
    if (!allowReading(rules, path))
      return false;
  const bool well = ::syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  ::close(rules);
  return well;
}

using Program = std::vector<sock_filter>;

sock_filter load(size_t offset) { return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, uint32_t(offset)); }
sock_filter answer(uint32_t action) { return BPF_STMT(BPF_RET | BPF_K, action); }

constexpr uint32_t kRefuse = SECCOMP_RET_ERRNO | EPERM;

/// Allows the call if none of `bits` is set in the low half of an argument (`wanted`: if one is).
void allowByBits(Program &program, long call, size_t argument, uint32_t bits, bool wanted) {
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, 4));
  program.push_back(load(offsetof(seccomp_data, args) + 8 * argument));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, uint8_t(!wanted), uint8_t(wanted)));
  program.push_back(answer(SECCOMP_RET_ALLOW));
  program.push_back(answer(kRefuse));
}

/// All system calls but those of a reader that computes fail with EPERM.
bool closeCalls() {
  Program program;
  program.push_back(load(offsetof(seccomp_data, arch)));
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0));
  program.push_back(answer(SECCOMP_RET_KILL_PROCESS));
  program.push_back(load(offsetof(seccomp_data, nr)));
  for (long call : {SYS_read,
                    SYS_pread64,
                    SYS_readv,
                    SYS_write,
                    SYS_writev,
                    SYS_close,
                    SYS_fstat,
                    SYS_newfstatat,
                    SYS_stat,
                    SYS_lstat,
                    SYS_statx,
                    SYS_lseek,
                    SYS_openat2,
                    SYS_getdents64,
                    SYS_readlink,
                    SYS_readlinkat,
                    SYS_getcwd,
                    SYS_access,
                    SYS_faccessat,
                    SYS_faccessat2,
                    SYS_fadvise64,
                    SYS_munmap,
                    SYS_mremap,
                    SYS_madvise,
                    SYS_brk,
                    SYS_futex,
                    SYS_set_robust_list,
                    SYS_rseq,
                    SYS_rt_sigaction,
                    SYS_rt_sigprocmask,
                    SYS_rt_sigreturn,
                    SYS_sigaltstack,
                    SYS_getpid,
                    SYS_gettid,
                    SYS_tgkill,
                    SYS_sched_yield,
                    SYS_sched_getaffinity,
                    SYS_clock_gettime,
                    SYS_clock_nanosleep,
                    SYS_gettimeofday,
                    SYS_getrandom,
                    SYS_sysinfo,
                    SYS_uname,
                    SYS_exit,
                    SYS_exit_group}) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, uint32_t(call), 0, 1));
    program.push_back(answer(SECCOMP_RET_ALLOW));
  }
  allowByBits(program, SYS_mmap, 2, PROT_EXEC, false);
  allowByBits(program, SYS_mprotect, 2, PROT_EXEC, false);
  allowByBits(program, SYS_open, 1, O_WRONLY | O_RDWR | O_CREAT, false);
  allowByBits(program, SYS_openat, 2, O_WRONLY | O_RDWR | O_CREAT, false);
  // Threads, but no processes. The flags of clone3 are in memory; the C library then uses clone.
  program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1));
  program.push_back(answer(SECCOMP_RET_ERRNO | ENOSYS));
  allowByBits(program, SYS_clone, 0, CLONE_THREAD, true);
  program.push_back(answer(kRefuse));
  sock_fprog filter{uint16_t(program.size()), program.data()};
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

uint64_t mappedBytes() {
  unsigned long pages = 0;
  if (std::FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%lu", &pages) != 1)
      pages = 0;
    std::fclose(file);
  }
  return uint64_t(pages) * uint64_t(::sysconf(_SC_PAGESIZE));
}

bool limit(__rlimit_resource resource, uint64_t value) {
  const rlimit both{value, value};
  return ::setrlimit(resource, &both) == 0;
}

} // namespace

bool canConfine() { return landlockVersion() > 0; }

bool confineThisProcess(const Confinement &confinement) {
  return limit(RLIMIT_AS, mappedBytes() + confinement.memoryBytes) &&
         limit(RLIMIT_CPU, uint64_t(confinement.time.count())) && limit(RLIMIT_FSIZE, 0) &&
         limit(RLIMIT_CORE, 0) && limit(RLIMIT_NOFILE, 64) &&
         ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && closeFiles(confinement.readable) &&
         closeCalls();
}

} // namespace lstmc
