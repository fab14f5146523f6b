#include "local/namespaces/user_ns.hpp"

#include <fcntl.h>
#include <grp.h>
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

}  // namespace

void write_id_maps(pid_t pid, uint32_t base) {
  std::string map = "0 " + std::to_string(base) + " " + std::to_string(kIdRange) + "\n";
  write_whole(proc_path(pid, "uid_map"), map, "write uid_map");
  write_whole(proc_path(pid, "gid_map"), map, "write gid_map");
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

void become_inner_root(bool single_id) {
  if (!single_id) check(setgroups(0, nullptr), "setgroups");
  check(setresgid(0, 0, 0), "setresgid");
  check(setresuid(0, 0, 0), "setresuid");
}

}  // namespace sandgate
