#include "local/node/supervisor/sandbox_table.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kBusyLook{10};

bool is_shown(const LiveSandbox& live) { return !live.gone && live.owned; }

// Called with the table's lock held.
void require_running(const LiveSandbox& live) {
  if (live.gone || live.record.state != RecordState::running)
    throw Error::not_found("sandbox", live.record.id);
}

}  // namespace

std::unique_lock<std::timed_mutex> lock_sandbox(LiveSandbox& live) {
  std::unique_lock busy(live.busy, kBusyLook);
  if (live.ending || (!busy && live.copying))
    throw Error(ErrorCode::conflict, "the sandbox's disk is being copied, or it ends");
  if (!busy) throw Error(ErrorCode::timeout, "the sandbox is being changed");
  return busy;
}

void SandboxTable::insert(const LivePtr& live) {
  std::lock_guard lock(mutex_);
  if (!sandboxes_.emplace(live->record.id, live).second)
    throw Error(ErrorCode::conflict, "a sandbox of this id exists");
}

void SandboxTable::assign(const LivePtr& warm, const JournalRecord& record) {
  std::lock_guard lock(mutex_);
  if (!sandboxes_.emplace(record.id, warm).second)
    throw Error(ErrorCode::conflict, "a sandbox of this id exists");
  sandboxes_.erase(warm->record.id);
  warm->record = record;
  warm->owned = true;
}

bool SandboxTable::is_gone(const LiveSandbox& live) const {
  std::lock_guard lock(mutex_);
  return live.gone;
}

void SandboxTable::mark_gone(LiveSandbox& live) {
  std::lock_guard lock(mutex_);
  live.gone = true;
}

void SandboxTable::remove(const std::string& id) {
  std::lock_guard lock(mutex_);
  sandboxes_.erase(id);
}

LivePtr SandboxTable::lookup(const std::string& id) const {
  std::lock_guard lock(mutex_);
  auto found = sandboxes_.find(id);
  return found == sandboxes_.end() || found->second->gone ? nullptr : found->second;
}

LivePtr SandboxTable::get(const std::string& id) const {
  LivePtr live = lookup(id);
  if (!live) throw Error::not_found("sandbox", id);
  return live;
}

void SandboxTable::check_alive(const LiveSandbox& live) const {
  std::lock_guard lock(mutex_);
  require_running(live);
}

std::optional<JournalRecord> SandboxTable::find(const std::string& id) const {
  std::lock_guard lock(mutex_);
  auto found = sandboxes_.find(id);
  if (found == sandboxes_.end() || !is_shown(*found->second)) return std::nullopt;
  return found->second->record;
}

std::vector<JournalRecord> SandboxTable::list() const {
  std::lock_guard lock(mutex_);
  std::vector<JournalRecord> records;
  for (const auto& [id, live] : sandboxes_)
    if (is_shown(*live)) records.push_back(live->record);
  return records;
}

std::vector<LivePtr> SandboxTable::warm() const {
  std::lock_guard lock(mutex_);
  std::vector<LivePtr> waiting;
  for (const auto& [id, live] : sandboxes_)
    if (live->record.state == RecordState::waiting) waiting.push_back(live);
  return waiting;
}

std::vector<std::string> SandboxTable::take_expired(Time limit) {
  std::lock_guard lock(mutex_);
  std::vector<std::string> expired;
  for (const auto& [id, live] : sandboxes_) {
    if (live->gone || live->overdue || live->record.state != RecordState::running) continue;
    live->overdue = live->record.expires_at < limit;
    if (live->overdue) expired.push_back(id);
  }
  return expired;
}

// The journal first: a supervisor that starts after a crash restores the state it describes.
void SandboxTable::update(LiveSandbox& live, const Change& change) {
  std::lock_guard recording(live.recording);
  JournalRecord copy;
  {
    std::lock_guard lock(mutex_);
    require_running(live);
    copy = live.record;
  }
  change(copy);
  journal_.write(copy);
  update_in_memory(live, change);
}

void SandboxTable::update_in_memory(LiveSandbox& live, const Change& change) {
  std::lock_guard lock(mutex_);
  change(live.record);
}

}  // namespace sandgate
