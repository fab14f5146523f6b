#pragma once
#include <optional>
#include <string>
#include <vector>

#include "billing/usage_export.hpp"
#include "gateway/core/async.hpp"

namespace sandgate {

// One booked event on its way out.
struct ExportEvent {
  int64_t sequence = 0;  // order of booking
  UsageRow row;
  std::string quantity_before;  // of this sandbox and meter, exact
};

// What became of events that were sent, from the front.
struct Delivery {
  struct Refused {
    size_t index;
    std::string reason;
  };
  size_t settled = 0;  // accepted by the receiver, of no concern to it, or refused for good
  size_t accepted = 0;
  std::vector<Refused> refused;  // indexes below `settled`
  std::string stopped;  // why the rest has to be sent again; empty: nothing is left
  std::optional<std::chrono::seconds> retry_after;
};

// One receiver. Events may come again after a crash: what makes them count once is the event's id.
class Exporter {
 public:
  virtual ~Exporter() = default;
  virtual Task<Delivery> deliver(std::vector<ExportEvent> events) = 0;
};

}  // namespace sandgate
