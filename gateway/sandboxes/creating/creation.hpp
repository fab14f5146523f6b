#pragma once
#include <atomic>
#include <memory>

#include "gateway/sandboxes/creating/create_order.hpp"
#include "gateway/sandboxes/creating/insert_sandbox.hpp"
#include "gateway/sandboxes/creating/speculative_insert.hpp"
#include "gateway/sandboxes/lifecycle_parts.hpp"
#include "registry/secret_store.hpp"

namespace sandgate {

// What a backend is asked for, without secrets and snapshot, which the caller adds.
CreateSpec spec_of(const EffectiveRequest& request, const SandboxId& id, const TenantId& tenant);

// One create, from decision to running row: intention, backend call, row. What a crash leaves is
// resolved by the reaper. On our own machines, whose nodes keep a journal, intention and row may be
// one transaction after the backend call; a crash then leaves a sandbox without a row, which the
// reconciler kills and nobody is charged for. Shared with its transactions by shared_ptr.
class Creation : public std::enable_shared_from_this<Creation> {
 public:
  Creation(const LifecycleParts& parts, CreateOrder order, Decision decision);

  Task<SandboxRecord> run();  // once
  // Whether it failed, leaving nothing behind, because a candidate was removed or disabled.
  bool is_outdated() const { return is_outdated_; }
  const CreateOrder& order() const { return order_; }

 private:
  // Whether the backend may be called before anything is committed.
  bool may_be_optimistic() const;
  // Commits the intention. Leaves out candidates that budgets cannot pay for while others are left,
  // else throws the refusal.
  Task<void> write_intention();
  // Waits for the tenant's other creates; the token is to be held by the transaction.
  Task<std::shared_ptr<void>> enter_queue(CreateQueue::Step step);
  bool drop_unaffordable(const Error& refusal);  // false: nothing changed
  CreateSpec spec() const;
  // The decision without the candidates, attempts and time used up so far.
  Decision rest() const;
  SandboxRecord placed_record(const Placed& placed) const;
  // Writes the row of a created sandbox. Empty when the backend's id belongs to another sandbox,
  // which is left alone. Throws when somebody ended the sandbox meanwhile or the database does not
  // answer; the backend's sandbox is killed then.
  Task<std::optional<SandboxRecord>> write_result(const Placed& placed);
  // Counts an answer with another sandbox's id as the backend's failure.
  void refuse(const Placed& placed, const Error& error);
  Task<void> give_up(const Error& error);
  // Kills a created sandbox; what it cost at a vendor is a loss. When the commit's outcome is
  // unknown, also journals an end that charges nothing, since no response named the sandbox.
  Task<void> undo(const Placed& placed, const Error& reason);

  // Its transactions (creation_rows.cpp).
  // Starts writing the row while the backend creates `wanted`, on the create's executor. Null when
  // the answer cannot be foreseen or no connection may be held.
  std::shared_ptr<SpeculativeInsert> try_speculative_insert(const CreateSpec& wanted,
                                                            const asio::any_io_executor& executor);
  // One try of write_result(), by the shortest path available.
  Task<std::optional<SandboxRecord>> write(SandboxRecord placed);
  std::optional<SandboxRecord> write_placed(pqxx::work& tx, const SandboxRecord& placed);
  // Checks scope, limits and budgets and inserts the row in `record`'s state. True when a budget
  // has a reservation, to be adjusted to the real price.
  bool write_row(pqxx::work& tx, const Decision& decision, SandboxRecord& record);
  // As write_row() for a running sandbox, in one round trip when nothing has to be checked.
  bool write_running(pqxx::work& tx, const Decision& decision, SandboxRecord& record);
  // Whether one insert suffices: no Idempotency-Key, no candidate that may be removed, and no
  // limits or budgets as far as is known.
  bool has_nothing_to_lock(const Decision& decision) const;
  void lock_candidates(pqxx::work& tx, const Decision& decision);  // throws if one is gone
  sandbox_rows::NewRow new_row(const Decision& decision, const SandboxRecord& record) const;
  void begin_charge(pqxx::work& tx, const SandboxRecord& running, bool reserved) const;
  void check_not_abandoned() const;  // throws once the create was given up

  const LifecycleParts& parts_;
  CreateOrder order_;
  Decision decision_;
  SandboxRecord record_;
  sandbox_secrets::BoundSecrets secrets_;
  std::chrono::steady_clock::time_point placing_since_;
  bool has_intention_ = false, reserved_ = false;  // of a committed intention
  std::shared_ptr<SpeculativeInsert> speculative_;  // for the first backend answer
  bool asked_ = false;  // the single-statement insert was sent
  std::atomic<bool> is_outdated_{false};
  std::atomic<bool> is_crowded_{false};  // see CreateQueue::Admission
  std::atomic<bool> abandoned_{false};  // no row may be written any more
};

}  // namespace sandgate
