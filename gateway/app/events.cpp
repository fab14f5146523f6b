#include "gateway/app/events.hpp"

#include "gateway/app/background.hpp"

namespace sandgate {
namespace {

// Polling intervals of the event log: while streams wait for events, and otherwise.
constexpr std::chrono::milliseconds kEventsAwaited{40}, kEventsQuiet{250};
constexpr int64_t kForgottenEventsAtOnce = 5000;

}  // namespace

Events::Events(Foundation& below)
    : foundation(below),
      log(below.database),
      webhooks(below.database, below.cipher),
      sender(below.database, below.cipher, below.curl, below.clock,
             {.allow_private = below.config.webhooks.allow_private}) {}

void Events::subscribe() {
  foundation.notifications.subscribe(kEventsChannel, [this](const std::string& payload) {
    notifier.notify(payload);
    sender.wake();
  });
}

void Events::start() {
  keep_running(foundation.executor(), "event log", [this]() -> Task<void> {
    // Polled, because a NOTIFY in the transactions that write events would serialize their commits.
    for (;;) {
      co_await log.collect_all();
      co_await sleep_for(notifier.listeners() > 0 ? kEventsAwaited : kEventsQuiet);
    }
  });
  keep_running(foundation.executor(), "webhooks", [this] { return sender.run(); });
  const std::chrono::hours age(24 * foundation.config.events.retention_days);
  repeat_until_none(foundation.executor(), "old events", std::chrono::minutes(10),
                    [this, age] { return log.prune(age, kForgottenEventsAtOnce); });
}

void Events::render(MetricText& out) const {
  out.gauge("sandgate_event_streams", "Clients that listen to events.", notifier.listeners());
  out.counter("sandgate_events_total", "Events that were numbered.", log.collected());
  sender.render(out);
}

}  // namespace sandgate
