#include "local/namespaces/seccomp_install.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "local/namespaces/step_error.hpp"

namespace sandgate {

namespace {

int load(sock_fprog filter, unsigned flags) {
  return static_cast<int>(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter));
}

// Returns the system call's result, with errno. Throws StepError for an unreadable program.
int install(int program, unsigned flags) {
  struct stat status {};
  check(fstat(program, &status), "seccomp program");
  size_t count = static_cast<size_t>(status.st_size) / sizeof(sock_filter);
  if (count == 0 || count > BPF_MAXINSNS) throw StepError("seccomp program size", EINVAL);
  std::vector<sock_filter> instructions(count);
  ssize_t bytes = pread(program, instructions.data(), count * sizeof(sock_filter), 0);
  if (bytes != static_cast<ssize_t>(count * sizeof(sock_filter))) {
    throw StepError("seccomp program read", EIO);
  }
  sock_fprog filter{static_cast<unsigned short>(count), instructions.data()};
  return load(filter, flags);
}

}  // namespace

bool can_notify() {
  const pid_t child = check(fork(), "fork");
  if (child == 0) {
    sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    _exit(load({1, &allow}, SECCOMP_FILTER_FLAG_NEW_LISTENER) < 0 ? 1 : 0);
  }
  int status = 0;
  check(waitpid(child, &status, 0), "wait");
  return status == 0;
}

void install_seccomp(int program) { check(install(program, 0), "seccomp"); }

Fd install_notifying_seccomp(int program) {
  const int requests = install(program, SECCOMP_FILTER_FLAG_NEW_LISTENER);
  if (requests >= 0) return Fd(requests);
  if (errno != EBUSY) throw StepError("seccomp", errno);
  install_seccomp(program);
  return {};
}

}  // namespace sandgate
