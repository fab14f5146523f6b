#include "gateway/http/answer_log.hpp"

#include "gateway/core/log.hpp"

namespace sandgate::http {

void log_answer(const Request& request, const Response& response, bool all,
                TenantLogLimiter& pace) {
  const bool failed = response.status >= 500 && !response.is_expected;
  const bool read = request.received != std::chrono::steady_clock::time_point();
  if (!read || !(failed || all)) return;
  const auto& tenant = request.caller.tenant;
  const std::string cause = tenant ? tenant->value : request.caller.is_operator() ? "operator" : "";
  const auto left_out = all ? std::optional<uint64_t>(0) : pace.next(cause);
  if (!left_out) return;
  const auto took = std::chrono::steady_clock::now() - request.received;
  (failed ? log::warn : log::debug)(
      "answered", {{"request_id", request.id},
                   {"trace_id", request.trace ? Json(request.trace->id()) : Json()},
                   {"tenant", tenant ? Json(tenant->value) : Json()},
                   {"method", request.method_name()},
                   {"route", request.route},
                   {"status", response.status},
                   {"code", response.code ? Json(to_string(*response.code)) : Json()},
                   {"ms", std::chrono::duration_cast<std::chrono::milliseconds>(took).count()},
                   {"left_out", *left_out}});
}

}  // namespace sandgate::http
