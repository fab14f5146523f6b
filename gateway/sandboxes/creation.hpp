#pragma once
#include <atomic>
#include <memory>

#include "gateway/sandboxes/births.hpp"
#include "gateway/sandboxes/lifecycle.hpp"
#include "gateway/sandboxes/row_ahead.hpp"
#include "registry/secret_store.hpp"

namespace sandgate {

// What a backend is asked for: with neither secrets nor snapshot, which are the caller's to add.
CreateSpec spec_of(const EffectiveRequest& request, const SandboxId& id, const TenantId& tenant);

// One create, from decision to running row: intention, backend, row. What it leaves behind when it
// dies anywhere in between is the reaper's to resolve. On machines of ours, which write their own
// journal, intention and row may be one transaction, after the backend: what nobody has written
// down then is the sweep's to end, and costs nobody anything. Owned by a shared pointer, which its
// transactions share.
class Creation : public std::enable_shared_from_this<Creation> {
 public:
  Creation(const Lifecycle::Parts& parts, CreateOrder order, Decision decision);

  Task<SandboxRecord> run();  // once
  // Whether it was refused, with nothing left of it, because a candidate is not in use any more.
  bool is_outdated() const { return is_outdated_; }
  const CreateOrder& order() const { return order_; }

 private:
  // Whether the sandbox may be made before anything of it is written down.
  bool may_come_first() const;
  Task<void> announce();  // commits the intention; throws what refuses it
  CreateSpec spec() const;
  // What is left to try, of candidates, attempts and time.
  Decision rest() const;
  SandboxRecord placed_record(const Placed& placed) const;
  // The row of the sandbox that a backend made; empty when it is another's already, which is left
  // alone. Throws when someone ended it meanwhile, or when the database does not answer: then the
  // backend's sandbox is killed.
  Task<std::optional<SandboxRecord>> keep(const Placed& placed);
  // Counts as the backend's failure that it gave another's sandbox.
  void refuse(const Placed& placed, const Error& error);
  Task<void> give_up(const Error& error);
  // Kills what a backend made. When nobody knows what the database heard of it, it ends whatever
  // its row says, and its tenant, who was told of none, is charged nothing.
  Task<void> undo(const Placed& placed, const Error& reason);

  // Its transactions (creation_rows.cpp).
  // Begins to write the row while the backend makes what is `wanted`, on the create's own loop;
  // null: not this time.
  std::shared_ptr<RowAhead> write_ahead(const CreateSpec& wanted,
                                        const asio::any_io_executor& executor);
  // keep() once, in the shortest way that there is.
  Task<std::optional<SandboxRecord>> write(SandboxRecord placed);
  std::optional<SandboxRecord> write_placed(pqxx::work& tx, const SandboxRecord& placed);
  // What its tenant may have, and the row, of which `record` says how far it is. True when the
  // tenant has budgets, which want to hear the real price.
  bool write_row(pqxx::work& tx, const Decision& decision, SandboxRecord& record);
  // The same of one that is about to run, in one round trip where there is nothing to judge.
  bool write_running(pqxx::work& tx, const Decision& decision, SandboxRecord& record);
  // Whether the row alone says of the sandbox that it is there: no idempotent call, no deployment
  // that may be removed, nor, as far as is known, limits and budgets.
  bool has_nothing_to_hold(const Decision& decision) const;
  void hold_candidates(pqxx::work& tx, const Decision& decision);  // throws what refuses them
  sandbox_rows::Birth birth(const Decision& decision, const SandboxRecord& record) const;
  void begin_charge(pqxx::work& tx, const SandboxRecord& running, bool reserved) const;
  void check_wanted() const;  // throws when nothing is to be written any more

  const Lifecycle::Parts& parts_;
  CreateOrder order_;
  Decision decision_;
  SandboxRecord record_;
  sandbox_secrets::Bound secrets_;
  std::chrono::steady_clock::time_point placing_since_;
  bool announced_ = false, reserved_ = false;  // of an intention that is committed
  std::shared_ptr<RowAhead> ahead_;  // of the backend's first answer
  bool asked_ = false;  // the database, to write all of it at once
  std::atomic<bool> is_outdated_{false};
  std::atomic<bool> given_up_{false};  // what has no row by now is not to have one
};

}  // namespace sandgate
