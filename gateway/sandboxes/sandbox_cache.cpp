#include "gateway/sandboxes/sandbox_cache.hpp"

#include <functional>

#include "gateway/core/notifications.hpp"
#include "gateway/sandboxes/rows/sandbox_rows.hpp"

namespace sandgate {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kSilence{900}, kBeat{250};
constexpr std::chrono::seconds kKeep{60}, kKeepAbsence{1};
constexpr char kBeatPayload[] = "beat";

// What a value takes, about: of its record only the metadata can be large.
size_t bytes_of(const CachedSandboxPtr& value) {
  constexpr size_t kPair = 128;  // of a map's node with two strings
  if (!value) return 0;
  size_t sum = sizeof(CachedSandbox) + value->body.capacity();
  for (const auto& [name, text] : value->record.metadata) sum += kPair + name.size() + text.size();
  return sum;
}

CachedSandboxPtr with_body(const SandboxRecord& record) {
  return std::make_shared<const CachedSandbox>(CachedSandbox{record, to_json(record).dump()});
}

int64_t steady_ns() { return Steady::now().time_since_epoch().count(); }

}  // namespace

SandboxCache::SandboxCache(Database& database, Limits limits)
    : database_(database),
      limits_per_shard_{std::max<size_t>(1, limits.entries / kShards), limits.bytes / kShards} {}

void SandboxCache::Shard::note(const SandboxId& id, int64_t revision) {
  latest[++changes % kChanges] = {std::hash<std::string>{}(id.value), revision};
}

bool SandboxCache::Shard::is_current(const SandboxId& id, int64_t revision, Mark mark) const {
  if (changes - mark.changes > kChanges) return false;
  const size_t hash = std::hash<std::string>{}(id.value);
  for (uint64_t number = changes; number > mark.changes; --number) {
    const Change& change = latest[number % kChanges];
    if (change.id_hash == hash) return revision != 0 && change.revision == revision;
  }
  return true;
}

SandboxCache::Shard& SandboxCache::shard_of(const SandboxId& id) {
  return shards_[std::hash<std::string>{}(id.value) % kShards];
}

bool SandboxCache::listening() const {
  return steady_ns() - heard_ns_ < std::chrono::nanoseconds(kSilence).count();
}

std::optional<CachedSandboxPtr> SandboxCache::peek(const SandboxId& id) {
  if (!listening()) return std::nullopt;
  Shard& shard = shard_of(id);
  std::lock_guard lock(shard.mutex);
  const auto found = shard.entries.find(id.value);
  if (found == shard.entries.end() || found->second.invalidated ||
      found->second.until < Steady::now())
    return std::nullopt;
  shard.recent.splice(shard.recent.begin(), shard.recent, found->second.position);
  ++hits_;
  return found->second.value;
}

CachedSandboxPtr SandboxCache::last_known(const SandboxId& id) {
  Shard& shard = shard_of(id);
  std::lock_guard lock(shard.mutex);
  const auto found = shard.entries.find(id.value);
  const bool known = found != shard.entries.end() && !found->second.invalidated;
  return known ? found->second.value : nullptr;
}

CachedSandboxPtr SandboxCache::last_seen(const SandboxId& id) {
  Shard& shard = shard_of(id);
  std::lock_guard lock(shard.mutex);
  const auto found = shard.entries.find(id.value);
  return found == shard.entries.end() ? nullptr : found->second.value;
}

Task<CachedSandboxPtr> SandboxCache::find(SandboxId id) {
  if (auto known = peek(id)) co_return std::move(*known);
  ++misses_;
  const Mark mark = mark_of(id);
  auto read = database_.run([id](pqxx::work& tx) { return sandbox_rows::find(tx, id); });
  const auto outcome = co_await attempt(std::move(read));
  if (const Error* error = std::get_if<Error>(&outcome)) {
    // Running sandboxes stay usable while the database is away.
    if (auto last = last_known(id); last && error->code == ErrorCode::unavailable) co_return last;
    throw *error;
  }
  const auto& record = std::get<0>(outcome);
  CachedSandboxPtr value;
  if (record) value = with_body(*record);
  Shard& shard = shard_of(id);
  std::lock_guard lock(shard.mutex);
  put(shard, id, value, mark);
  co_return value;
}

SandboxCache::Mark SandboxCache::mark_of(const SandboxId& id) {
  Shard& shard = shard_of(id);
  std::lock_guard lock(shard.mutex);
  return Mark{shard.changes};
}

void SandboxCache::store(const SandboxRecord& record, Mark as_of) {
  auto value = with_body(record);
  Shard& shard = shard_of(record.id);
  std::lock_guard lock(shard.mutex);
  if (!put(shard, record.id, std::move(value), as_of)) return invalidate(shard, record.id);
  shard.note(record.id, record.revision);  // rows that were read before the change come too late
}

bool SandboxCache::put(Shard& shard, const SandboxId& id, CachedSandboxPtr value, Mark as_of) {
  if (value && !is_settled(value->record.state)) return false;
  if (!shard.is_current(id, value ? value->record.revision : 0, as_of)) return false;
  const auto until = Steady::now() + (value ? kKeep : kKeepAbsence);
  auto [entry, added] = shard.entries.try_emplace(id.value);
  if (added) {
    shard.recent.push_front(id.value);
    entry->second.position = shard.recent.begin();
  }
  const size_t bytes = bytes_of(value);
  shard.bytes += bytes - entry->second.bytes;
  entry->second.bytes = bytes;
  entry->second.value = std::move(value);
  entry->second.until = until;
  entry->second.invalidated = false;
  shard.recent.splice(shard.recent.begin(), shard.recent, entry->second.position);
  forget_old(shard);
  return true;
}

void SandboxCache::forget_old(Shard& shard) const {
  while (shard.entries.size() > limits_per_shard_.entries ||
         (shard.bytes > limits_per_shard_.bytes && shard.entries.size() > 1)) {
    const auto oldest = shard.entries.find(shard.recent.back());
    shard.bytes -= oldest->second.bytes;
    shard.entries.erase(oldest);
    shard.recent.pop_back();
  }
}

void SandboxCache::invalidate(const SandboxId& id) {
  Shard& shard = shard_of(id);
  std::lock_guard lock(shard.mutex);
  invalidate(shard, id);
}

void SandboxCache::invalidate(Shard& shard, const SandboxId& id) {
  shard.note(id, 0);
  const auto found = shard.entries.find(id.value);
  if (found == shard.entries.end()) return;
  found->second.invalidated = true;
  shard.recent.splice(shard.recent.end(), shard.recent, found->second.position);
}

// Notifications arrive in commit order, so an entry with the last notified revision is current,
// whether it was cached before or after the notification.
void SandboxCache::on_change(const SandboxId& id, int64_t revision) {
  Shard& shard = shard_of(id);
  std::lock_guard lock(shard.mutex);
  shard.note(id, revision);
  const auto found = shard.entries.find(id.value);
  if (found == shard.entries.end()) return;
  const CachedSandboxPtr& value = found->second.value;
  if (!value || value->record.revision != revision) found->second.invalidated = true;
}

void SandboxCache::evict(const SandboxId& id) {
  Shard& shard = shard_of(id);
  std::lock_guard lock(shard.mutex);
  shard.note(id, 0);
  const auto found = shard.entries.find(id.value);
  if (found == shard.entries.end()) return;
  shard.bytes -= found->second.bytes;
  shard.recent.erase(found->second.position);
  shard.entries.erase(found);
}

void SandboxCache::clear() {
  for (Shard& shard : shards_) {
    std::lock_guard lock(shard.mutex);
    shard.changes += kChanges + 1;  // no row that was read before is current
    for (auto& [id, entry] : shard.entries) entry.invalidated = true;
  }
}

void SandboxCache::on_notification(const std::string& payload) {
  const size_t space = payload.find(' ');
  if (payload.empty())
    clear();
  else if (space != std::string::npos)
    on_change(SandboxId{payload.substr(0, space)}, std::strtoll(&payload[space + 1], nullptr, 10));
  // Last: the entry has to be invalidated before the cache is trusted again.
  heard_ns_ = steady_ns();
}

Task<void> SandboxCache::run() {
  while (true) {
    // A lost heartbeat makes readers bypass the cache, as intended.
    co_await attempt(database_.run([](pqxx::work& tx) { notify(tx, kChannel, kBeatPayload); }));
    co_await sleep_for(kBeat);
  }
}

}  // namespace sandgate
