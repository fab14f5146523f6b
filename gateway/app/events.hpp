#pragma once
#include "gateway/app/foundation.hpp"
#include "gateway/core/metric_text.hpp"
#include "gateway/events/event_log.hpp"
#include "gateway/events/event_notifier.hpp"
#include "gateway/events/webhook_sender.hpp"
#include "gateway/events/webhook_store.hpp"

namespace sandgate {

// The event log with its subscribers: event streams and webhooks.
struct Events {
  explicit Events(Foundation& foundation);

  // Registers notification handlers. Call before notifications start.
  void subscribe();
  // Starts background work.
  void start();
  void render(MetricText& out) const;

  Foundation& foundation;
  EventLog log;
  EventNotifier notifier;
  WebhookStore webhooks;
  WebhookSender sender;
};

}  // namespace sandgate
