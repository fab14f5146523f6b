#include "gateway/sandboxes/ending/outage_journal.hpp"

#include "gateway/core/json_text.hpp"
#include "gateway/core/log.hpp"
#include "gateway/sandboxes/ending/end_booking.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/uncancelled.hpp"
#include "gateway/sandboxes/upkeep/failure_limiter.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kReplayPause{20};
// For an earlier process to let go of the file, which it does as soon as it is told to stop.
constexpr std::chrono::minutes kEarlierProcess{1};

std::string payload_of(const EndIntention& intention) {
  Json json{{"tenant", intention.tenant.value},
            {"sandbox", intention.sandbox.value},
            {"at_micros", to_micros(intention.at)},
            {"reason", intention.reason}};
  if (intention.failure)
    json["failure"] = {{"code", intention.failure->code}, {"detail", intention.failure->detail}};
  if (intention.counters)
    json["counters"] = {{"egress_bytes", intention.counters->egress_bytes.value_or(-1)},
                        {"cpu_micros", intention.counters->active_cpu_micros.value_or(-1)},
                        {"sampled_micros", to_micros(intention.counters->sampled_at)}};
  if (intention.gone_at) json["gone_micros"] = to_micros(*intention.gone_at);
  // Text from a backend may be invalid UTF-8.
  return json_text(json);
}

EndIntention intention_of(const std::string& payload) {
  const Json json = Json::parse(payload);
  EndIntention intention{.tenant = TenantId{json.at("tenant").get<std::string>()},
                         .sandbox = SandboxId{json.at("sandbox").get<std::string>()},
                         .at = from_micros(json.at("at_micros").get<int64_t>()),
                         .reason = json.at("reason").get<std::string>()};
  if (json.contains("failure"))
    intention.failure = SandboxFailure{json["failure"].at("code").get<std::string>(),
                                       json["failure"].at("detail").get<std::string>()};
  if (json.contains("counters")) {
    const Json& read = json["counters"];
    intention.counters =
        Meter::Measured{.egress_bytes = read.at("egress_bytes").get<int64_t>(),
                        .active_cpu_micros = read.at("cpu_micros").get<int64_t>(),
                        .sampled_at = from_micros(read.at("sampled_micros").get<int64_t>())};
  }
  if (json.contains("gone_micros"))
    intention.gone_at = from_micros(json["gone_micros"].get<int64_t>());
  return intention;
}

// Empty for a record of another release: it must not block the other records and the booking of
// usage, which waits for them. The reconciler finds such a sandbox lost.
std::optional<EndIntention> readable(const std::string& payload) {
  try {
    return intention_of(payload);
  } catch (const std::exception& failure) {
    log::error("an end kept on disk is not understood",
               {{"record", payload}, {"reason", failure.what()}});
    return std::nullopt;
  }
}

// False: an earlier try of this record was committed already.
bool move_on(pqxx::work& tx, const std::string& journal, uint64_t sequence) {
  return tx.exec_params(
               "INSERT INTO outage_journal AS j (journal, through) VALUES ($1, $2)"
               " ON CONFLICT (journal) DO UPDATE SET through = excluded.through, at = now()"
               " WHERE j.through < excluded.through",
               journal, sequence)
             .affected_rows() == 1;
}

// Throws Error(unavailable) while the database takes no writes at all.
Task<void> check_writable(Database& database, std::string journal) {
  auto work = [journal](pqxx::work& tx) {
    tx.exec_params("UPDATE outage_journal SET at = now() WHERE journal = $1", journal);
  };
  auto writing = database.run(std::move(work));
  co_await std::move(writing);
}

// Idempotent, since a sandbox ends only once.
void apply(pqxx::work& tx, Lifecycle& lifecycle, const EndIntention& intention) {
  // Without a lease: the reaper ends the sandbox in its next round.
  const sandbox_rows::Stop stop{.reason = intention.reason,
                                .failure = intention.failure,
                                .lease = std::chrono::milliseconds(0)};
  if (sandbox_rows::set_stopping(tx, intention.sandbox, stop))
    end_charge(lifecycle.parts(), tx, intention.sandbox, intention.at, intention.counters);
  if (intention.gone_at) end_row(lifecycle.parts(), tx, intention.sandbox, intention.gone_at);
}

// The right to replay, held by one caller at a time; released on destruction.
class Turn {
 public:
  explicit Turn(std::atomic<bool>& busy) : busy_(busy) {}
  ~Turn() { busy_ = false; }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  std::atomic<bool>& busy_;
};

}  // namespace

struct OutageJournal::Round {
  std::string journal;
  FailureLimiter failures;
  std::set<std::string> waiting;  // sandboxes of ends that could not be written
  bool in_order = true;  // nothing before the next record waits
  size_t written = 0;
};

// Keeps the file from the next process while it lasts.
class OutageJournal::Use {
 public:
  explicit Use(OutageJournal& journal) : journal_(journal) {
    const std::lock_guard lock(journal_.mutex_);
    is_ours_ = !journal_.releasing_;
    if (is_ours_) ++journal_.uses_;
  }
  ~Use() {
    const std::lock_guard lock(journal_.mutex_);
    if (is_ours_ && --journal_.uses_ == 0 && journal_.releasing_) journal_.lock_.reset();
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

  bool is_ours() const { return is_ours_; }  // else the file may be another process's

 private:
  OutageJournal& journal_;
  bool is_ours_ = false;
};

OutageJournal::OutageJournal(DurableJournal::Options options)
    : lock_(FileLock::wait(options.path + ".lock", kEarlierProcess)), journal_(std::move(options)) {
  for (const auto& record : journal_.pending(SIZE_MAX)) {
    const auto intention = readable(record.payload);
    if (intention) note_kept(*intention);
  }
}

void OutageJournal::release() {
  const std::lock_guard lock(mutex_);
  releasing_ = true;
  if (uses_ == 0) lock_.reset();
}

bool OutageJournal::is_releasing() const {
  const std::lock_guard lock(mutex_);
  return releasing_;
}

void OutageJournal::note_kept(const EndIntention& intention) {
  const std::lock_guard lock(mutex_);
  Ended& ended = ended_[intention.sandbox.value];
  ended.tenant = intention.tenant.value;
  if (ended.reason.empty()) ended.reason = intention.reason;
  ended.is_gone = ended.is_gone || intention.gone_at;
  ++ended.kept;
}

void OutageJournal::note_not_kept(const SandboxId& sandbox) {
  const std::lock_guard lock(mutex_);
  const auto ended = ended_.find(sandbox.value);
  if (ended == ended_.end()) return;
  if (ended->second.kept > 0) --ended->second.kept;
  if (ended->second.kept == 0 && ended->second.written == 0) ended_.erase(ended);
}

void OutageJournal::note_written(const SandboxId& sandbox) {
  const auto now = std::chrono::steady_clock::now();
  const std::lock_guard lock(mutex_);
  Ended& just_written = ended_[sandbox.value];
  if (just_written.kept > 0) --just_written.kept;
  ++just_written.written;
  written_.push_back({now, sandbox.value});
  for (; now - written_.front().at > kRowsInFlight; written_.pop_front()) {
    const auto ended = ended_.find(written_.front().sandbox);
    if (--ended->second.written == 0 && ended->second.kept == 0) ended_.erase(ended);
  }
}

bool OutageJournal::has(const SandboxId& sandbox) const {
  const std::lock_guard lock(mutex_);
  const auto found = ended_.find(sandbox.value);
  return found != ended_.end() && found->second.kept > 0;
}

bool OutageJournal::has(const TenantId& tenant, const SandboxId& sandbox) const {
  const std::lock_guard lock(mutex_);
  const auto found = ended_.find(sandbox.value);
  return found != ended_.end() && found->second.kept > 0 && found->second.tenant == tenant.value;
}

bool OutageJournal::says_gone(const SandboxId& sandbox) const {
  const std::lock_guard lock(mutex_);
  const auto found = ended_.find(sandbox.value);
  return found != ended_.end() && found->second.is_gone;
}

std::optional<std::string> OutageJournal::reason_of(const SandboxRecord& record) const {
  const bool is_told = is_ending(record.state);
  return is_told ? std::nullopt : reason_of(record.id);
}

std::optional<std::string> OutageJournal::reason_of(const SandboxId& sandbox) const {
  const std::lock_guard lock(mutex_);
  const auto found = ended_.find(sandbox.value);
  return found == ended_.end() ? std::nullopt : std::optional(found->second.reason);
}

std::map<std::string, std::string> OutageJournal::ending(const TenantId& tenant) const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, std::string> reasons;
  for (const auto& [sandbox, ended] : ended_)
    if (ended.tenant == tenant.value) reasons.emplace(sandbox, ended.reason);
  return reasons;
}

std::set<std::string> OutageJournal::kept() const {
  const std::lock_guard lock(mutex_);
  std::set<std::string> sandboxes;
  for (const auto& [sandbox, ended] : ended_)
    if (ended.kept > 0) sandboxes.insert(sandbox);
  return sandboxes;
}

size_t OutageJournal::records() const {
  const std::lock_guard lock(mutex_);
  return journal_.records() - out_of_order_.size();
}

Task<void> OutageJournal::append(EndIntention intention) {
  const Use use(*this);
  if (!use.is_ours())
    throw Error(ErrorCode::unavailable, "the gateway stops and the database does not answer");
  note_kept(intention);  // before a replay can write it
  try {
    co_await journal_.append(payload_of(intention));
  } catch (...) {
    note_not_kept(intention.sandbox);
    throw;
  }
  log::warn("an end is kept on disk until the database is back",
            {{"sandbox", intention.sandbox.value}, {"reason", intention.reason}});
}

Task<size_t> OutageJournal::replay(Lifecycle& lifecycle) {
  while (busy_.exchange(true)) co_await sleep_for(kReplayPause);
  const Turn turn(busy_);
  // The caller may be a request that is cancelled.
  auto work = [this, &lifecycle] { return replay_alone(lifecycle); };
  auto replaying = uncancelled(std::move(work));
  co_return co_await std::move(replaying);
}

Task<bool> OutageJournal::write_kept(Lifecycle& lifecycle, const Round& round, uint64_t sequence,
                                     EndIntention end) {
  auto work = [&lifecycle, journal = round.journal, in_order = round.in_order, sequence,
               end](pqxx::work& tx) {
    // The mark would cover the ones before it that wait.
    if (!in_order || move_on(tx, journal, sequence)) apply(tx, lifecycle, end);
  };
  auto writing = lifecycle.parts().database.run(std::move(work));
  const auto outcome = co_await attempt(std::move(writing));
  const auto* error = std::get_if<Error>(&outcome);
  if (error && error->code == ErrorCode::unavailable) throw *error;
  lifecycle.parts().cache.invalidate(end.sandbox);
  if (error) {
    // The database refuses it for good; see readable().
    log::error("an end kept on disk cannot be written",
               {{"sandbox", end.sandbox.value}, {"reason", error->what()}});
    note_not_kept(end.sandbox);
    co_return false;
  }
  note_written(end.sandbox);
  ++replayed_;
  co_return true;
}

Task<bool> OutageJournal::write_one(Lifecycle& lifecycle, Round& round,
                                    DurableJournal::Record record) {
  const auto end = readable(record.payload);
  if (!end) co_return true;
  const std::string& sandbox = end->sandbox.value;
  if (round.failures.is_blocked(end->tenant) || round.waiting.contains(sandbox)) co_return false;
  auto writing = write_kept(lifecycle, round, record.sequence, *end);
  const auto outcome = co_await attempt(std::move(writing));
  if (const bool* written = std::get_if<bool>(&outcome)) {
    round.written += *written ? 1 : 0;
    co_return true;
  }
  auto checking = check_writable(lifecycle.parts().database, round.journal);
  co_await std::move(checking);
  log::warn("an end kept on disk has to wait",
            {{"sandbox", sandbox}, {"reason", std::get<Error>(outcome).what()}});
  round.failures.add(end->tenant);
  round.waiting.insert(sandbox);
  co_return false;
}

bool OutageJournal::is_written(uint64_t sequence) const {
  const std::lock_guard lock(mutex_);
  return out_of_order_.contains(sequence);
}

Task<void> OutageJournal::forget(uint64_t sequence, bool in_order) {
  {
    const std::lock_guard lock(mutex_);
    if (in_order)
      out_of_order_.erase(sequence);
    else
      out_of_order_.insert(sequence);
  }
  if (in_order) co_await journal_.trim(sequence);
}

Task<size_t> OutageJournal::replay_alone(Lifecycle& lifecycle) {
  const Use use(*this);
  if (!use.is_ours()) co_return 0;
  Round round{.journal = journal_.id()};
  const auto records = journal_.pending(SIZE_MAX);
  for (const auto& record : records) {
    if (is_releasing()) break;  // the next process goes on
    bool done = is_written(record.sequence);
    if (!done) {
      auto writing = write_one(lifecycle, round, record);
      done = co_await std::move(writing);
    }
    round.in_order = round.in_order && done;
    // After each record, so that one that is written is not written again if a later one fails.
    if (done) co_await forget(record.sequence, round.in_order);
  }
  if (round.written > 0)
    log::info("ends of an outage are in the database", {{"ends", round.written}});
  co_return round.written;
}

}  // namespace sandgate
