#include "billing/ledger/losses.hpp"

#include "billing/ledger/ledger.hpp"
#include "billing/ledger/loss_rows.hpp"
#include "billing/usage/metered_rows.hpp"

namespace sandgate {

// A sandbox's time at a backend that no tenant pays.
struct Losses::Stretch {
  MeteredLife life;
  std::string backend_id;
  LossReason reason = LossReason::late_end;
};

void Losses::book_stretch(pqxx::work& tx, Stretch stretch, Time until,
                          const PriceSnapshot& prices) {
  MeteredLife& life = stretch.life;
  continue_losses(tx, life, stretch.backend_id);
  const auto events = book(life, until, prices, SIZE_MAX);
  if (events.empty()) return;
  for (const Money& money : insert_losses(tx, life, stretch.backend_id, stretch.reason, events))
    post_loss(tx, life.deployment, money, "loss: " + std::string(to_string(stretch.reason)));
  ++booked_;
}

void Losses::book_late_end(pqxx::work& tx, const SandboxId& id, const std::string& backend_id,
                           std::optional<Time> gone_at) {
  const auto rating = books_.lock(tx, clock_);
  auto row = lock_metered(tx, id);
  // On its own deployment the tenant pays the vendor.
  if (!row || !row->life.closed || row->life.own) return;
  MeteredLife& life = row->life;
  const Time until = std::min(gone_at.value_or(rating.now), rating.now);
  life.ends_at.reset();
  // When the tenant was charged nothing, the create is a loss as well.
  life.closed = life.boundary > life.opened_at || is_create_charged(tx, life);
  book_stretch(tx, {.life = std::move(life), .backend_id = backend_id}, until, *rating.prices);
}

void Losses::record_orphan(pqxx::work& tx, const Orphan& orphan) {
  if (orphan.owner.empty()) insert_orphan(tx, orphan);
}

void Losses::end(pqxx::work& tx, const std::string& deployment, const std::string& owner,
                 const std::string& backend_id) {
  const auto rating = books_.lock(tx, clock_);
  const auto orphan = end_orphan(tx, deployment, owner, backend_id, rating.now);
  if (!orphan) return;
  MeteredLife life{.id = orphan->id,
                   .deployment = orphan->deployment,
                   .provider = orphan->provider,
                   .region = orphan->region,
                   .state = orphan->state,
                   .resources = orphan->resources,
                   .boundary = orphan->since};
  // Continues the tenant's meters, so that minimums and rounding are not counted twice.
  const auto paid = orphan->placed ? lock_metered(tx, orphan->id) : std::nullopt;
  if (paid && paid->life.closed) {
    life.vcpu_total = paid->life.vcpu_total;
    life.memory_total = paid->life.memory_total;
    life.disk_total = paid->life.disk_total;
    life.boundary = std::max(life.boundary, paid->life.boundary);
  }
  if (!orphan->placed) life.opened_at = life.boundary;  // its create is a loss as well
  book_stretch(tx,
               {.life = std::move(life), .backend_id = backend_id, .reason = LossReason::orphan},
               rating.now, *rating.prices);
}

std::vector<std::string> Losses::open(pqxx::work& tx, const std::string& deployment,
                                      const std::string& owner) {
  return open_orphans(tx, deployment, owner);
}

}  // namespace sandgate
