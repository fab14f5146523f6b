// The launcher program. It starts as a zygote, whose copies each start one sandbox and exit; the
// process a copy started stays as the sandbox's agent.
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <string>

#include "local/agent/agent.hpp"
#include "local/namespaces/isolation_measure.hpp"
#include "local/namespaces/jail.hpp"
#include "local/namespaces/proc.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/namespaces/zygote_process.hpp"

namespace sandgate {
namespace {

LaunchSpec read_spec() {
  struct stat status {};
  check(fstat(kSpecFd, &status), "launch spec");
  std::string text(static_cast<size_t>(status.st_size), '\0');
  if (pread(kSpecFd, text.data(), text.size(), 0) != status.st_size) {
    throw StepError("launch spec", EIO);
  }
  return launch_spec_from(text);
}

void report_failure(const std::exception& failure) {
  auto* step = dynamic_cast<const StepError*>(&failure);
  try {
    send_report({LaunchReport::Kind::failed, 0, failure.what(), step ? step->number : 0});
  } catch (const StepError&) {
    // the node is gone; after a restart it cleans up from its journal
  }
}

void run_inside(const LaunchSpec& spec) {
  try {
    Fd seccomp_notifications = enter_jail(spec);
    send_report({LaunchReport::Kind::ready, 0, "", 0});
    close(kReportFd);
    agent::AgentSettings settings;
    settings.listener = kListenerFd;
    settings.seccomp_notifications = seccomp_notifications.release();
    settings.account = {spec.user, spec.uid, spec.gid, spec.home};
    settings.env = spec.env;
    settings.workdir = spec.workdir;
    settings.observers = observers_of(spec);
    settings.single_id = spec.single_id;
    settings.allow_root = spec.allow_root;
    settings.awaits_owner = spec.awaits_owner;
    if (!is_applied(spec, "capabilities")) settings.root_capabilities = ~uint64_t{0};
    settings.no_new_privileges = is_applied(spec, "no_new_privs");
    settings.dumpable = !is_applied(spec, "dumpable");
    _exit(agent::run_agent(std::move(settings)));
  } catch (const std::exception& failure) {
    report_failure(failure);
  }
  _exit(1);
}

int launch(bool has_network) {
  try {
    send_report({LaunchReport::Kind::launching, getpid(), "", 0});
    setsid();
    LaunchSpec spec = read_spec();
    // Without privileges, a non-dumpable launcher could not write its child's id map. The child
    // makes itself non-dumpable later.
    if (!spec.single_id) check(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0), "not dumpable");
    if (is_applied(spec, "descriptors"))
      check(close_range(kNetworkFd + 1, ~0U, 0), "close descriptors");
    start_jailed(spec, has_network ? Fd(kNetworkFd) : Fd(), run_inside);
    return 0;
  } catch (const std::exception& failure) {
    report_failure(failure);
    return 1;
  }
}

}  // namespace
}  // namespace sandgate

int main(int, char** arguments) { return sandgate::run_zygote(arguments[0], sandgate::launch); }
