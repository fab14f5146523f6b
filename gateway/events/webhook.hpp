#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "gateway/core/ids.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"

namespace sandgate {

// A receiver of events. Its secret is visible to the store and the sender only.
struct Webhook {
  std::string name;
  std::optional<TenantId> tenant;  // empty: the operator's, for all tenants' events
  std::string url;
  std::vector<std::string> types;  // filters, never empty
  Time created_at, updated_at;
  std::optional<Time> last_success_at, failing_since, disabled_at;
  struct Failure {
    Time at;
    std::string reason;  // one sentence
    std::string event;  // its id
  };
  std::optional<Failure> last_failure;
  int64_t pending = 0;  // events not delivered yet
};

// The representation in GET /v1/webhooks; `state` is active, failing or disabled.
Json to_json(const Webhook& webhook);

// Pause after the given attempt (1, 2, …): 1 s, doubling up to an hour, times 0.5 to 1.5 as
// `chance` goes from 0 to 255.
std::chrono::milliseconds webhook_backoff(int attempts, uint8_t chance);

// What is wrong with a receiver's URL; empty if nothing. The addresses of host names are checked
// when a connection is made.
std::string webhook_url_problem(const std::string& url, bool allow_private);

}  // namespace sandgate
