#include "gateway/ports/visitor_error.hpp"

namespace sandgate::ports {

Error for_visitor(const Error& failure) {
  const bool is_state = failure.code == ErrorCode::conflict ||
                        failure.code == ErrorCode::not_found ||
                        failure.code == ErrorCode::unsupported;
  if (is_state && failure.provider.empty()) return failure;
  const bool keeps_code = is_state || failure.code == ErrorCode::timeout;
  Error told(keeps_code ? failure.code : ErrorCode::unavailable,
             "the sandbox cannot be reached now");
  told.retry_after = failure.retry_after;
  return told;
}

}  // namespace sandgate::ports
