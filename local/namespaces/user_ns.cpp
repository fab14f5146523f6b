#include "local/namespaces/user_ns.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

std::string proc_path(pid_t pid, const char* name) {
  return "/proc/" + std::to_string(pid) + "/" + name;
}

void write_whole(const std::string& path, const std::string& text, const char* step) {
  Fd fd = check_fd(open(path.c_str(), O_WRONLY | O_CLOEXEC), step);
  check(write(fd.get(), text.data(), text.size()), step);
}

// Maps `count` ids from `first` on to those from `outside` on.
void write_map(pid_t pid, const char* map, uint32_t first, uint32_t outside, uint32_t count) {
  write_whole(
      proc_path(pid, map),
      std::to_string(first) + " " + std::to_string(outside) + " " + std::to_string(count) + "\n",
      map);
}

// The kernel accepts no empty map, so an unused id stands in for 0.
uint32_t never_root(uint32_t id) { return id == 0 ? kIdOfNobody : id; }

// A child process that keeps a new user namespace alive until the destructor kills it.
class Placeholder {
 public:
  Placeholder()
      : pid_(static_cast<pid_t>(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0))) {
    check(pid_, "clone user namespace");
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
  }
  Placeholder(const Placeholder&) = delete;
  ~Placeholder() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

}  // namespace

void write_id_maps(pid_t pid, uint32_t base) {
  write_map(pid, "uid_map", 0, base, kIdRange);
  write_map(pid, "gid_map", 0, base, kIdRange);
}

uint32_t host_group(uint32_t uid, uint32_t gid) { return gid == 0 ? never_root(uid) : gid; }

Fd user_namespace_of_account(uint32_t base, uint32_t uid, uint32_t gid) {
  const Placeholder placeholder;
  write_map(placeholder.pid(), "uid_map", never_root(uid), base + never_root(uid), 1);
  write_map(placeholder.pid(), "gid_map", host_group(uid, gid), base + gid, 1);
  return open_user_namespace(placeholder.pid());
}

void write_single_id_map(pid_t pid, uid_t uid, gid_t gid) {
  write_whole(proc_path(pid, "setgroups"), "deny", "write setgroups");
  write_whole(proc_path(pid, "uid_map"), "0 " + std::to_string(uid) + " 1\n", "write uid_map");
  write_whole(proc_path(pid, "gid_map"), "0 " + std::to_string(gid) + " 1\n", "write gid_map");
}

Fd open_user_namespace(pid_t pid) {
  return check_fd(open(proc_path(pid, "ns/user").c_str(), O_RDONLY | O_CLOEXEC),
                  "open user namespace");
}

void become_inner_root(bool single_id, uint32_t observers) {
  if (!single_id) check(setgroups(observers != 0, &observers), "setgroups");
  check(setresgid(0, 0, 0), "setresgid");
  check(setresuid(0, 0, 0), "setresuid");
}

}  // namespace sandgate
