#pragma once
#include <chrono>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "gateway/core/crypto.hpp"
#include "gateway/events/event.hpp"

// SQL statements on the queue of webhook deliveries. Each function is one round trip in the
// caller's transaction.
namespace sandgate::delivery_rows {

// One event to be sent to one webhook, leased to the replica that took it.
struct Delivery {
  int64_t webhook = 0;  // row id
  std::string url;
  Secret secret;
  bool sealed_by_other_key = false;  // secret unreadable: sealed under another master key
  Event event;
  int attempts = 1;  // includes this one; tells this lease from later ones
};

// Takes at most `most` due deliveries and leases them for `lease`; skips rows locked by other
// replicas. A webhook gets at most 8 at a time (an owner 32), a failing one gets one, each less
// those in `under_way` (webhook row ids, one per delivery).
std::vector<Delivery> take_due(pqxx::work& tx, const Cipher& cipher, size_t most,
                               std::chrono::milliseconds lease,
                               const std::vector<int64_t>& under_way = {});

// Deletes an accepted delivery, unless the lease ran out and another replica took it. Either way
// the webhook has had a success.
void set_delivered(pqxx::work& tx, const Delivery& delivery);

enum class FailureOutcome { retry, given_up, webhook_disabled };
// A delivery is given up after so many tries at the earliest, about six hours of them, however long
// no gateway was there to try.
inline constexpr int kMinTries = 17;
// Records a failure: retries after `pause`, and rests the webhook as long, for a minute at most. A
// webhook that was tried for `patience` and accepted nothing is disabled, with all its deliveries.
// Otherwise a delivery is given up that is older than `patience` and was tried kMinTries times.
FailureOutcome set_failed(pqxx::work& tx, const Delivery& delivery, const std::string& reason,
                          std::chrono::milliseconds pause, std::chrono::seconds patience);

}  // namespace sandgate::delivery_rows
