#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "billing/usage/usage_export.hpp"
#include "gateway/core/async.hpp"

namespace sandgate {

// One booked usage event to send.
struct ExportEvent {
  int64_t sequence = 0;  // order of booking
  UsageRow row;
  std::string quantity_before;  // of this sandbox and meter before this event, exact
};

// The result of sending a batch: a settled prefix, and what stopped the rest.
struct BatchResult {
  struct Refused {
    size_t index;
    std::string reason;
  };
  size_t settled = 0;  // accepted, not for this receiver, or refused for good
  size_t accepted = 0;
  std::vector<Refused> refused;  // indexes below `settled`
  std::string stopped;  // why the rest has to be sent again; empty: all settled
  std::optional<std::chrono::seconds> retry_after;
};

// Whether an answer that is no success says nothing about the events, but about the credentials,
// the moment or the receiver: they have to be sent again. Any other refuses them for good.
inline bool is_transient(int status) {
  constexpr std::array kTransient{401, 403, 408, 409, 425, 429};
  return status < 400 || status >= 500 || std::ranges::find(kTransient, status) != kTransient.end();
}

// One receiver. A crash may repeat events; receivers have to deduplicate them by id.
class Exporter {
 public:
  virtual ~Exporter() = default;
  virtual Task<BatchResult> deliver(std::vector<ExportEvent> events) = 0;
};

}  // namespace sandgate
