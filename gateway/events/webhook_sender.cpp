#include "gateway/events/webhook_sender.hpp"

#include "gateway/core/json_text.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/random.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/core/webhook_signature.hpp"
#include "gateway/events/webhook.hpp"
#include "registry/redact_url.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kTick{50};
constexpr int kTicksPerLook = 20;  // retries become due without a notification
constexpr std::chrono::milliseconds kDrainTimeout{1000};
constexpr size_t kMaxAnswer = 64 << 10;

// Reads a short response to its end, so that the connection can be reused.
Task<bool> drain(HttpStream& answer) {
  std::string piece(4096, '\0');
  for (size_t sum = 0; sum < kMaxAnswer;) {
    const size_t count = co_await answer.read(piece);
    if (count == 0) co_return true;
    sum += count;
  }
  co_return false;
}

}  // namespace

// Counts a delivery as under way until destruction.
class WebhookSender::UnderWay {
 public:
  UnderWay(WebhookSender& sender, int64_t webhook) : sender_(sender) {
    const std::lock_guard lock(sender_.mutex_);
    place_ = sender_.under_way_.insert(webhook);
  }
  ~UnderWay() {
    const std::lock_guard lock(sender_.mutex_);
    sender_.under_way_.erase(place_);
  }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  WebhookSender& sender_;
  std::multiset<int64_t>::iterator place_;
};

HttpCall WebhookSender::call_for(const delivery_rows::Delivery& delivery) const {
  // send() enforces the deadline.
  HttpCall call{.method = "POST", .url = delivery.url, .deadline = std::chrono::seconds(0)};
  call.body = json_text(to_json(delivery.event));
  call.headers = {
      {"Content-Type", "application/cloudevents+json; charset=utf-8"},
      {"User-Agent", "Sandgate"},
      {"Sandgate-Signature", webhook_signature(delivery.secret, clock_.now(), call.body)}};
  call.peer = "the receiver";
  call.allow_private = options_.allow_private;
  return call;
}

Task<std::string> WebhookSender::send(const delivery_rows::Delivery& delivery) {
  if (delivery.sealed_by_other_key)
    co_return "its secret is sealed under another master key: set it again";
  auto sending = client_.stream(call_for(delivery));
  const auto outcome = co_await attempt_within(options_.deadline, std::move(sending));
  if (const auto* error = std::get_if<Error>(&outcome)) {
    if (error->code == ErrorCode::timeout) co_return "the receiver did not answer in time";
    co_return error->what();
  }
  HttpStream& answer = *std::get<0>(outcome);
  const int status = answer.status();
  auto draining = drain(answer);
  co_await attempt_within(kDrainTimeout, std::move(draining));
  if (status >= 200 && status < 300) co_return "";
  co_return "the receiver answered " + std::to_string(status);
}

Task<void> WebhookSender::record(delivery_rows::Delivery delivery, std::string failure) {
  if (failure.empty()) {
    ++delivered_;
    auto work = [delivery](pqxx::work& tx) { delivery_rows::set_delivered(tx, delivery); };
    co_return co_await database_.run(std::move(work));
  }
  ++failed_;
  const auto pause = webhook_backoff(delivery.attempts, random_byte());
  auto work = [this, delivery, failure, pause](pqxx::work& tx) {
    return delivery_rows::set_failed(tx, delivery, failure, pause, options_.patience);
  };
  const auto next = co_await database_.run(std::move(work));
  if (next == delivery_rows::FailureOutcome::retry) co_return;
  ++given_up_;
  log::warn("an event was not delivered",
            {{"event", delivery.event.id},
             {"url", redact_url(delivery.url)},
             {"reason", failure},
             {"webhook_disabled", next == delivery_rows::FailureOutcome::webhook_disabled}});
}

Task<void> WebhookSender::deliver(delivery_rows::Delivery delivery) {
  std::string failure = co_await send(delivery);
  const auto written = co_await attempt(record(std::move(delivery), std::move(failure)));
  // The lease ends, and the event is sent again.
  if (const auto* error = std::get_if<Error>(&written))
    log::warn("a delivery was not written down", {{"reason", error->what()}});
}

Task<WebhookSender::Deliveries> WebhookSender::take(size_t most) {
  std::vector<int64_t> under_way;
  {
    const std::lock_guard lock(mutex_);
    under_way.assign(under_way_.begin(), under_way_.end());
  }
  most -= std::min(most, under_way.size());
  if (most == 0) co_return Deliveries();
  auto work = [this, most, under_way](pqxx::work& tx) {
    return delivery_rows::take_due(tx, cipher_, most, options_.lease, under_way);
  };
  co_return co_await database_.run(std::move(work));
}

Task<size_t> WebhookSender::step() {
  Deliveries due = co_await take(options_.at_once);
  for (delivery_rows::Delivery& delivery : due) co_await deliver(std::move(delivery));
  co_return due.size();
}

Task<void> WebhookSender::run() {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  for (int tick = 0;; ++tick) {
    const bool look = wake_pending_.exchange(false) || tick % kTicksPerLook == 0;
    if (look) {
      Deliveries due = co_await take(options_.at_once);
      // More may be due than one batch.
      if (!due.empty()) wake_pending_ = true;
      for (delivery_rows::Delivery& delivery : due) {
        auto counted = std::make_shared<UnderWay>(*this, delivery.webhook);
        auto work = [this, counted, delivery = std::move(delivery)] { return deliver(delivery); };
        spawn_detached(executor, std::move(work));
      }
    }
    co_await sleep_for(kTick);
  }
}

void WebhookSender::render(MetricText& out) const {
  constexpr std::string_view kTries = "sandgate_webhook_deliveries_total";
  out.begin(kTries, "counter", "Tries to deliver an event, by what came of it.");
  out.sample(kTries, "outcome=\"delivered\"", delivered_.load());
  out.sample(kTries, "outcome=\"failed\"", failed_.load());
  out.sample(kTries, "outcome=\"given_up\"", given_up_.load());
  const std::lock_guard lock(mutex_);
  out.gauge("sandgate_webhook_deliveries_in_flight", "Deliveries under way.", under_way_.size());
}

}  // namespace sandgate
