#include "gateway/events/webhook.hpp"

#include <algorithm>

#include <boost/url.hpp>

#include "gateway/core/time_json.hpp"
#include "providers/address_rules.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kFirstPause{1000}, kLongestPause{3'600'000};

std::string_view state_of(const Webhook& webhook) {
  if (webhook.disabled_at) return "disabled";
  return webhook.failing_since ? "failing" : "active";
}

Json failure_json(const Webhook& webhook) {
  const auto& failure = webhook.last_failure;
  if (!failure) return nullptr;
  return {{"at", to_rfc3339(failure->at)}, {"reason", failure->reason}, {"event", failure->event}};
}

}  // namespace

Json to_json(const Webhook& webhook) {
  return {{"name", webhook.name},
          {"tenant", webhook.tenant ? Json(webhook.tenant->value) : Json()},
          {"url", webhook.url},
          {"types", webhook.types},
          {"state", state_of(webhook)},
          {"pending", webhook.pending},
          {"created_at", to_rfc3339(webhook.created_at)},
          {"updated_at", to_rfc3339(webhook.updated_at)},
          {"last_success_at", time_json(webhook.last_success_at)},
          {"failing_since", time_json(webhook.failing_since)},
          {"disabled_at", time_json(webhook.disabled_at)},
          {"last_failure", failure_json(webhook)}};
}

std::chrono::milliseconds webhook_backoff(int attempts, uint8_t chance) {
  const int doublings = std::clamp(attempts - 1, 0, 12);
  const auto pause = std::min(kFirstPause * (1 << doublings), kLongestPause);
  return pause / 2 + pause * chance / 255;
}

std::string webhook_url_problem(const std::string& url, bool allow_private) {
  const auto parsed = boost::urls::parse_uri(url);
  if (!parsed) return "must be a URL";
  if (parsed->scheme() != "https" && parsed->scheme() != "http") return "must be http or https";
  if (parsed->host().empty()) return "must name a host";
  if (parsed->has_port() && !is_port(parsed->port())) return "must have a port below 65536";
  if (parsed->has_userinfo()) return "must hold no user and password";
  if (parsed->has_fragment()) return "must have no fragment";
  if (!allow_private && names_private_address(url))
    return "must not be a private or loopback address";
  return "";
}

}  // namespace sandgate
