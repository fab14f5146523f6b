#pragma once
#include "gateway/app/foundation.hpp"
#include "gateway/core/metric_text.hpp"
#include "gateway/events/event_bell.hpp"
#include "gateway/events/event_log.hpp"
#include "gateway/events/webhook_sender.hpp"
#include "gateway/events/webhook_store.hpp"

namespace sandgate {

// What happened, for those who listen or have it sent to them.
struct Events {
  explicit Events(Foundation& foundation);

  // Says what notifications are for; before they start.
  void subscribe();
  // Takes up what runs by itself.
  void start();
  void render(MetricText& out) const;

  Foundation& foundation;
  EventLog log;
  EventBell bell;
  WebhookStore webhooks;
  WebhookSender sender;
};

}  // namespace sandgate
