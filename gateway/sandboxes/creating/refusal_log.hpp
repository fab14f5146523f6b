#pragma once
#include "gateway/core/error.hpp"
#include "gateway/core/log_rate_limiter.hpp"
#include "gateway/sandboxes/creating/create_order.hpp"

namespace sandgate {

// The log of creates that were refused or failed, so that the request's id leads somewhere. At most
// ten lines a second.
class RefusalLog {
 public:
  // Logs the refusal with the reasons against each deployment; returns it.
  Error record(const CreateOrder& order, Error refusal);

 private:
  LogRateLimiter pace_{10};
};

}  // namespace sandgate
