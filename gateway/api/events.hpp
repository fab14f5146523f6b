#pragma once
#include "gateway/events/event_log.hpp"
#include "gateway/events/event_notifier.hpp"
#include "gateway/http/event_stream.hpp"
#include "gateway/http/routes.hpp"

namespace sandgate::api {

// GET /v1/events and GET /v1/sandboxes/{id}/events: CloudEvents as server-sent events, filtered by
// ?types=sandbox.*,budget.alert. An event's id is its position in the log; a stream resumes after
// Last-Event-ID without gaps or duplicates. Without that header, a sandbox's stream starts with its
// first event and a tenant's with the next event. A sandbox's stream ends after its last event. An
// operator who acts for no tenant sees the events of all.
class EventHandlers {
 public:
  // Throws Error(not_found) unless the sandbox belongs to the tenant.
  using CheckSandbox = std::function<Task<void>(TenantId, SandboxId)>;

  EventHandlers(EventLog& log, EventNotifier& notifier, CheckSandbox check)
      : log_(log), notifier_(notifier), check_(std::move(check)) {}
  void add_routes(http::Routes& routes);

  Task<http::Response> list(http::Request& request);
  Task<http::Response> of_sandbox(http::Request& request);

 private:
  Task<int64_t> newest_position();
  http::Response stream(const http::Request& request, EventQuery query);
  Task<void> produce(EventQuery query, http::EventWriter& writer);
  // Sends all new events; returns true if no more can follow.
  Task<bool> send_new(EventQuery& query, http::EventWriter& writer);

  EventLog& log_;
  EventNotifier& notifier_;
  CheckSandbox check_;
};

}  // namespace sandgate::api
