#include "local/agent/processes/process_table.hpp"

#include "gateway/core/error.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kMaxAlive = 512;
constexpr size_t kMaxAliveOutput = 32 * 1024 * 1024;  // in total, but each keeps its minimum
constexpr size_t kMaxEnded = 128;
constexpr size_t kMaxEndedOutput = 16 * 1024 * 1024;  // of all ended processes together

}  // namespace

void ProcessTable::check_capacity(const std::string& id) const {
  const auto found = by_id_.find(id);
  if (found != by_id_.end() && !found->second->ended())
    throw Error(ErrorCode::conflict, "the process id is taken");
  if (by_pid_.size() >= kMaxAlive)
    throw Error(ErrorCode::quota_exceeded, "the sandbox runs too many commands at once");
}

std::shared_ptr<Process> ProcessTable::add(ProcessSettings settings, Spawned child) {
  const std::string id = settings.id;
  auto process = std::make_shared<Process>(loop_, std::move(settings), std::move(child));
  std::erase(ended_, id);  // an ended process of the same id is replaced
  by_id_[id] = process;
  by_pid_[process->pid()] = process;
  share_buffer_space();
  return process;
}

std::shared_ptr<Process> ProcessTable::get(const std::string& id) const {
  const auto found = by_id_.find(id);
  if (found == by_id_.end()) throw Error::not_found("process", id);
  return found->second;
}

bool ProcessTable::reaped(pid_t pid, int wait_status) {
  const auto found = by_pid_.find(pid);
  if (found == by_pid_.end()) return false;
  const std::shared_ptr<Process> process = found->second;
  by_pid_.erase(found);
  share_buffer_space();
  ended_.push_back(process->settings().id);
  process->reaped(wait_status);
  forget_old();
  return true;
}

void ProcessTable::share_buffer_space() {
  for (const auto& [pid, process] : by_pid_)
    process->set_buffer_limit(kMaxAliveOutput / by_pid_.size());
}

void ProcessTable::forget_old() {
  while (ended_.size() > kMaxEnded) {
    by_id_.erase(ended_.front());
    ended_.pop_front();
  }
  size_t kept = 0;
  for (auto id = ended_.rbegin(); id != ended_.rend(); ++id) {
    Process& process = *by_id_.at(*id);
    kept += process.output().size();
    if (kept > kMaxEndedOutput && process.result()) process.shrink(0);
  }
}

}  // namespace sandgate::agent
