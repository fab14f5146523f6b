#pragma once
#include <deque>
#include <map>
#include <memory>
#include <string>

#include "local/agent/processes/process.hpp"

namespace sandgate::agent {

// The table of processes that the agent started for the tenant: all that are alive, and the last
// 128 that ended, with their output up to 16 MiB in total and what clients are still to read.
class ProcessTable {
 public:
  explicit ProcessTable(Loop& loop) : loop_(loop) {}

  // Throws Error: conflict when a living process has the id, quota_exceeded when 512 are alive.
  void check_capacity(const std::string& id) const;
  std::shared_ptr<Process> add(ProcessSettings settings, Spawned child);
  std::shared_ptr<Process> get(const std::string& id) const;  // throws Error(not_found)

  // Records the end of a child. Returns false when no process of the table has this pid.
  bool reaped(pid_t pid, int wait_status);

  size_t alive() const { return by_pid_.size(); }
  const std::map<std::string, std::shared_ptr<Process>>& all() const { return by_id_; }

 private:
  void share_buffer_space();
  void forget_old();

  Loop& loop_;
  std::map<std::string, std::shared_ptr<Process>> by_id_;
  std::map<pid_t, std::shared_ptr<Process>> by_pid_;  // only those alive
  std::deque<std::string> ended_;  // oldest first
};

}  // namespace sandgate::agent
