#include <signal.h>

#include <filesystem>

#include "tests/support/host_process.hpp"
#include "tests/support/process_provider.hpp"

namespace sandgate::test {
namespace {

std::string snapshots_below(const std::string& directory) { return directory + "/snapshots/"; }

}  // namespace

BackendSandbox ProcessProvider::shown(const std::string& id, const Box& box) {
  return {.backend_id = id,
          .sandbox_id = box.spec.sandbox_id,
          .state = box.paused ? BackendState::paused : BackendState::running,
          .kept = box.paused ? Keeps::memory : Keeps::nothing,
          .isolation = Isolation::process};
}

void ProcessProvider::restore(const std::string& snapshot, const std::string& home) {
  const std::string from = snapshots_below(directory_) + snapshot;
  if (!std::filesystem::exists(from)) throw Error::not_found("snapshot", snapshot);
  std::filesystem::copy(from, home, std::filesystem::copy_options::recursive);
}

Task<Keeps> ProcessProvider::pause(std::string id, Keeps) {
  Box& paused = box(id);
  for (auto& [name, process] : paused.processes) process->signal(SIGSTOP);
  paused.paused = true;
  co_return Keeps::memory;
}

Task<void> ProcessProvider::resume(std::string id) {
  Box& resumed = box(id);
  for (auto& [name, process] : resumed.processes) process->signal(SIGCONT);
  resumed.paused = false;
  co_return;
}

Task<BackendSnapshot> ProcessProvider::snapshot(std::string id, std::string snapshot_id, Keeps,
                                                bool) {
  const std::string to = snapshots_below(directory_) + snapshot_id;
  std::filesystem::create_directories(snapshots_below(directory_));
  std::filesystem::copy(box(id).home, to, std::filesystem::copy_options::recursive);
  co_return BackendSnapshot{.backend_id = snapshot_id, .kept = Keeps::disk, .size_bytes = 1};
}

Task<std::optional<BackendSnapshot>> ProcessProvider::find_snapshot(std::string snapshot_id) {
  if (!std::filesystem::exists(snapshots_below(directory_) + snapshot_id)) co_return std::nullopt;
  co_return BackendSnapshot{.backend_id = snapshot_id, .kept = Keeps::disk, .size_bytes = 1};
}

Task<void> ProcessProvider::remove_snapshot(std::string snapshot) {
  std::filesystem::remove_all(snapshots_below(directory_) + snapshot);
  co_return;
}

}  // namespace sandgate::test
