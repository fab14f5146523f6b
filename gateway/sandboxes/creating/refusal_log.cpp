#include "gateway/sandboxes/creating/refusal_log.hpp"

#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr size_t kMaxReasons = 20;

// As in the answer: "local: image_not_mapped".
std::vector<std::string> reasons_in(const Error& refusal) {
  std::vector<std::string> reasons;
  if (!refusal.details.is_object()) return reasons;
  for (const Json& candidate : refusal.details.value("candidates", Json::array())) {
    if (reasons.size() == kMaxReasons) break;
    std::string line = candidate.value("deployment", "") + ":";
    for (const Json& reason : candidate.value("rejected_because", Json::array()))
      line += " " + reason.get<std::string>();
    reasons.push_back(std::move(line));
  }
  return reasons;
}

}  // namespace

Error RefusalLog::record(const CreateOrder& order, Error refusal) {
  // The second create of a session or scope, which gets the sandbox of the first.
  if (refusal.code == ErrorCode::conflict) return refusal;
  const auto left_out = pace_.next();
  if (left_out)
    log::info("a create was refused", {{"request_id", order.request_id},
                                       {"tenant", order.tenant.value},
                                       {"profile", order.profile},
                                       {"code", to_string(refusal.code)},
                                       {"reason", refusal.what()},
                                       {"deployments", reasons_in(refusal)},
                                       {"left_out", *left_out}});
  return refusal;
}

}  // namespace sandgate
