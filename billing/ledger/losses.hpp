#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "billing/usage/meter.hpp"

namespace sandgate {

// A sandbox that exists at a backend although the registry has no live sandbox there.
struct Orphan {
  SandboxId id;  // as recorded at the backend
  std::string backend_id, deployment, provider, region;
  std::string owner;  // tenant whose own deployment it is, which bears the cost; or empty
  MeterState state = MeterState::running;
  Resources resources;
  Time since;  // no tenant pays from then on
  bool placed = false;  // the registry knew it until it ended there: its create was charged
};

// Books vendor costs that no tenant pays: rates them by the cost books and posts them to the
// account `loss`, exactly once also across crashes. Times are the database's, or `clock`'s when
// given.
class Losses {
 public:
  explicit Losses(PriceBooks& books, const Clock* clock = nullptr) : books_(books), clock_(clock) {}

  // Books the cost from the end of a sandbox's charge until its backend ended it at `gone_at`
  // (empty: now), in the transaction that records that end. No effect on a sandbox that was never
  // metered, is not closed or is on its tenant's own deployment.
  void book_late_end(pqxx::work& tx, const SandboxId& id, const std::string& backend_id,
                     std::optional<Time> gone_at);

  // Records an orphan before it is killed; none on a tenant's own deployment. An ended orphan is
  // opened again: its cost goes on from what is booked.
  static void record_orphan(pqxx::work& tx, const Orphan& orphan);
  // Books the cost of an orphan up to now, when it is certainly gone. No effect when it was ended
  // already or never noted.
  void end(pqxx::work& tx, const std::string& deployment, const std::string& owner,
           const std::string& backend_id);
  // Backend ids of the orphans that were noted and not ended yet.
  static std::vector<std::string> open(pqxx::work& tx, const std::string& deployment,
                                       const std::string& owner);

  uint64_t booked() const { return booked_; }  // sandboxes, since the start of this process

 private:
  struct Stretch;
  void book_stretch(pqxx::work& tx, Stretch stretch, Time until, const PriceSnapshot& prices);

  PriceBooks& books_;
  const Clock* clock_;
  std::atomic<uint64_t> booked_{0};
};

}  // namespace sandgate
