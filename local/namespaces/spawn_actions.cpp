#include "local/namespaces/spawn_actions.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "local/namespaces/step_error.hpp"

namespace sandgate {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> all;
  for (std::string& text : texts) all.push_back(text.data());
  all.push_back(nullptr);
  return all;
}

}  // namespace

void SpawnActions::map_fd(int fd, int target) {
  Fd high = check_fd(fcntl(fd, F_DUPFD_CLOEXEC, kTargetLimit), "hand over descriptor");
  posix_spawn_file_actions_adddup2(&actions_, high.get(), target);
  sources_.push_back(std::move(high));
}

pid_t SpawnActions::spawn(const std::string& path, std::vector<std::string> argv,
                          std::vector<std::string> environment) const {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int failure = posix_spawn(&pid, path.c_str(), &actions_, &attributes, pointers(argv).data(),
                                  pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  if (failure != 0) throw StepError("start " + argv.front(), failure);
  return pid;
}

Fd text_memfd(const char* name, const std::string& text) {
  Fd file = check_fd(memfd_create(name, MFD_CLOEXEC), name);
  if (pwrite(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
    throw StepError(name, EIO);
  return file;
}

}  // namespace sandgate
