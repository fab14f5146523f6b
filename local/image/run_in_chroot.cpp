#include "local/image/run_in_chroot.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <fstream>
#include <new>

#include "gateway/core/error.hpp"
#include "gateway/core/fd.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/namespaces/user_ns.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxAnswer = 64 << 10;
constexpr int64_t kMaxMemory = 1 << 30;
constexpr unsigned kFileCapabilities =
    1u << CAP_CHOWN | 1u << CAP_DAC_OVERRIDE | 1u << CAP_FOWNER | 1u << CAP_FSETID;

// chroot needs root: without privileges, become root in a new user namespace.
void become_root() {
  if (geteuid() == 0) return;
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  check(unshare(CLONE_NEWUSER), "user namespace");
  write_single_id_map(getpid(), uid, gid);
}

void enter_tree(const std::string& tree) {
  become_root();
  check(chdir(tree.c_str()), "enter tree");
  check(chroot("."), "change root");
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs");
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {{kFileCapabilities, kFileCapabilities, 0}, {0, 0, 0}};
  check(syscall(SYS_capset, &header, data), "drop capabilities");
  umask(022);
}

// A directory that is open leads out of the tree. Standard output and error stay for sanitizers.
void close_all_but(int one, int other) {
  const auto [low, high] = std::minmax({static_cast<unsigned>(one), static_cast<unsigned>(other)});
  unsigned next = STDERR_FILENO + 1;
  for (const unsigned kept : {low, high}) {
    if (kept < next) continue;
    if (kept > next) check(close_range(next, kept - 1, 0), "close descriptors");
    next = kept + 1;
  }
  check(close_range(next, ~0U, 0), "close descriptors");
}

// Beyond what the process has, which may be much: sanitizers reserve terabytes.
void limit_memory() {
  int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto most = static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE) + kMaxMemory);
  const rlimit limit{most, most};
  check(setrlimit(RLIMIT_AS, &limit), "limit memory");
}

// Otherwise it would go on in a tree that nobody waits for. After all changes of credentials, which
// undo it.
void die_with(pid_t parent) {
  check(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "die with parent");
  if (getppid() != parent) _exit(1);
}

[[noreturn]] void run_child(const std::string& tree, const std::function<std::string()>& work,
                            int input, int answer, pid_t parent) {
  int code = 1;
  std::string text;
  try {
    limit_memory();
    enter_tree(tree);
    die_with(parent);
    close_all_but(input < 0 ? answer : input, answer);
    text = work();
    code = 0;
  } catch (const std::bad_alloc&) {
    text = "its files need more memory than a tree may";
  } catch (const std::exception& failure) {
    text = failure.what();
  }
  if (text.size() > kMaxAnswer) {
    code = 1;
    text = "its settings are too large";
  }
  size_t written = 0;
  while (written < text.size()) {
    const ssize_t some = write(answer, text.data() + written, text.size() - written);
    if (some <= 0) break;
    written += static_cast<size_t>(some);
  }
  _exit(code);
}

}  // namespace

std::string run_in_chroot(const std::string& tree, const std::function<std::string()>& work,
                          int input) {
  int pipe_fds[2];
  if (pipe2(pipe_fds, O_CLOEXEC) != 0) throw Error(ErrorCode::unavailable, "no pipe");
  Fd in(pipe_fds[0]), out(pipe_fds[1]);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw Error(ErrorCode::unavailable, "no process");
  if (child == 0) run_child(tree, work, input, out.get(), parent);
  out.reset();
  std::string text;
  char some[4096];
  for (ssize_t got = 0; (got = read(in.get(), some, sizeof some)) > 0;)
    if (text.size() < kMaxAnswer) text.append(some, static_cast<size_t>(got));
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status)) throw Error(ErrorCode::unavailable, "the unpacking process died");
  if (WEXITSTATUS(status) != 0) throw Error(ErrorCode::invalid, text);
  return text;
}

}  // namespace sandgate
