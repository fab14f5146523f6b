#pragma once
#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "billing/meter.hpp"

namespace sandgate {

// A sandbox at a backend that the registry has no use for.
struct Orphan {
  SandboxId id;  // as the backend carries it
  std::string backend_id, deployment, provider, region;
  std::string owner;  // the tenant whose own deployment it is, and whose cost; empty: everybody's
  MeterState state = MeterState::running;
  Resources resources;
  Time since;  // from when on nobody paid for it
  bool placed = false;  // the registry's own until it ended there: its create was paid for
};

// What vendors cost and no tenant pays, rated by the cost books and posted to the account `loss`:
// exactly once each, whoever dies in between. Times are the database's, or the test's.
class Losses {
 public:
  explicit Losses(PriceBooks& books, const Clock* clock = nullptr) : books_(books), clock_(clock) {}

  // In the transaction that writes down that a sandbox's backend has ended it, at `gone_at` (now
  // when empty): books from the end of its charge to there. No effect on one that was never
  // metered.
  void book_late_end(pqxx::work& tx, const SandboxId& id, const std::string& backend_id,
                     std::optional<Time> gone_at);

  // Before it is killed. Again for one that was ended: it goes on from there.
  static void note(pqxx::work& tx, const Orphan& orphan);
  // It is certainly gone: books what it cost up to now. No effect when somebody did already, or
  // it was never noted.
  void end(pqxx::work& tx, const std::string& deployment, const std::string& owner,
           const std::string& backend_id);
  // Backend ids of those that were noted and not ended yet.
  static std::vector<std::string> open(pqxx::work& tx, const std::string& deployment,
                                       const std::string& owner);

  uint64_t booked() const { return booked_; }  // sandboxes, since the start of this process

 private:
  struct Stretch;
  PriceBooks::Held hold(pqxx::work& tx);
  void book_stretch(pqxx::work& tx, Stretch stretch, Time until, const PriceSnapshot& prices);

  PriceBooks& books_;
  const Clock* clock_;
  std::atomic<uint64_t> booked_{0};
};

}  // namespace sandgate
