#include "gateway/exports/webhook.hpp"

#include <boost/url/parse.hpp>

#include "gateway/core/webhook_signature.hpp"
#include "providers/address_rules.hpp"
#include "providers/transport/rest_api.hpp"

namespace sandgate {
namespace {

constexpr size_t kMinSecret = 16;

Json event_json(const ExportEvent& event) {
  return Json::parse(usage_line({UsageFormat::json}, event.row));
}

class WebhookExporter : public Exporter {
 public:
  explicit WebhookExporter(ExporterParts parts) : parts_(std::move(parts)) {}

  Task<BatchResult> deliver(std::vector<ExportEvent> events) override {
    BatchResult result;
    auto calling = parts_.http.call(call_for(events));
    const auto outcome = co_await attempt(std::move(calling));
    const auto* reply = std::get_if<HttpReply>(&outcome);
    if (!reply) {
      result.stopped = std::get<Error>(outcome).what();
      co_return result;
    }
    const std::string reason = "the receiver answered " + std::to_string(reply->status);
    const bool good = reply->status >= 200 && reply->status < 300;
    if (!good && is_transient(reply->status)) {
      result.stopped = reason;
      if (const auto wait = retry_after_of(reply->headers))
        result.retry_after = std::chrono::ceil<std::chrono::seconds>(*wait);
      co_return result;
    }
    result.settled = events.size();
    if (good) result.accepted = events.size();
    for (size_t i = 0; !good && i < events.size(); ++i) result.refused.push_back({i, reason});
    co_return result;
  }

 private:
  HttpCall call_for(const std::vector<ExportEvent>& events) const {
    Json items = Json::array();
    for (const ExportEvent& event : events) items.push_back(event_json(event));
    HttpCall call{.method = "POST",
                  .url = parts_.settings.value("url", ""),
                  .body = Json{{"export", parts_.name}, {"events", std::move(items)}}.dump(),
                  .max_body = 64 * 1024,
                  .allow_private = parts_.settings.value("allow_private", false),
                  .peer = "the receiver"};
    call.headers = {{"Content-Type", "application/json"},
                    {"Sandgate-Signature", webhook_signature(parts_.secrets.at("secret"),
                                                             parts_.clock.now(), call.body)}};
    return call;
  }

  ExporterParts parts_;
};

// With a query, a user and a password, where the receiver asks for them.
bool is_receiver(const std::string& text) {
  const auto url = boost::urls::parse_uri(text);
  return url && (url->scheme() == "http" || url->scheme() == "https") && !url->host().empty() &&
         (!url->has_port() || is_port(url->port())) && !url->has_fragment();
}

void validate_webhook(const Json& settings, const ExportSecrets& secrets, Problems& problems) {
  ObjectReader reader(settings, problems, "/settings");
  reader.require("url");
  const auto url = reader.text("url", {.min = 8, .max = 2048});
  if (url && !is_receiver(*url)) reader.problem("url", "must be an http or https URL");
  reader.boolean("allow_private");
  reader.finish();
  const auto secret = secrets.find("secret");
  if (secret == secrets.end() || secret->second.reveal().size() < kMinSecret)
    problems.add("/secrets/secret", "is required, with at least 16 characters");
}

std::unique_ptr<Exporter> make_webhook(ExporterParts parts) {
  return std::make_unique<WebhookExporter>(std::move(parts));
}

}  // namespace

ExportKind webhook_export_kind() { return {"webhook", validate_webhook, make_webhook}; }

}  // namespace sandgate
