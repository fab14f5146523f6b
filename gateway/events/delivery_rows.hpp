#pragma once
#include <chrono>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "gateway/core/crypto.hpp"
#include "gateway/events/event.hpp"

// What webhooks still have to be sent, as rows. Each function is one round trip in the caller's
// transaction.
namespace sandgate::delivery_rows {

// One event on its way to one webhook, leased to whoever took it.
struct Delivery {
  int64_t webhook = 0;  // row id
  std::string url;
  Secret secret;
  Event event;
  int attempts = 1;  // counting the one under way; tells this lease from later ones
};

// Takes what is due, `most` at a time and few of each webhook, counting those in `under_way` (row
// ids of webhooks, one for each delivery); of one that failed last, one. Each belongs to the caller
// for `lease`; rows another replica takes are left out.
std::vector<Delivery> take_due(pqxx::work& tx, const Vault& vault, size_t most,
                               std::chrono::milliseconds lease,
                               const std::vector<int64_t>& under_way = {});

// The receiver has it. Nothing happens when the lease ran out and another took it over.
void set_delivered(pqxx::work& tx, const Delivery& delivery);

enum class Next { retry, given_up, webhook_disabled };
// It failed: again after `pause`, and the webhook rests as long, though no longer than a minute.
// Once it is older than `patience` it is given up; when nothing at all was taken since, so is the
// webhook.
Next set_failed(pqxx::work& tx, const Delivery& delivery, const std::string& reason,
                std::chrono::milliseconds pause, std::chrono::seconds patience);

}  // namespace sandgate::delivery_rows
