#include "gateway/api/events.hpp"

#include "gateway/api/path_id.hpp"
#include "gateway/core/json_text.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kMaxTypes = 32;
// A safety net: the notifier wakes listeners reliably.
constexpr std::chrono::seconds kLookAnyway{15};
constexpr std::chrono::milliseconds kDatabasePause{1000};

std::vector<std::string> types_of(const http::Query& query) {
  std::vector<std::string> types;
  const auto text = query.find("types");
  if (!text) return types;
  for (size_t from = 0; from <= text->size();) {
    const size_t comma = std::min(text->find(',', from), text->size());
    types.push_back(text->substr(from, comma - from));
    from = comma + 1;
  }
  for (const std::string& type : types)
    if (!is_event_filter(type) || types.size() > kMaxTypes)
      throw Error::invalid(
          "/types", "must be types of events, separated by commas; a trailing * matches the rest");
  return types;
}

// A role that may not read sandboxes sees budget events only.
std::vector<std::string> types_for(const http::Caller& caller, std::vector<std::string> types) {
  constexpr std::string_view kMoney = "budget.";
  if (http::allows(caller.role, http::Permission::read_sandboxes)) return types;
  if (types.empty()) return {std::string(kMoney) + "*"};
  for (const std::string& type : types)
    if (!type.starts_with(kMoney))
      throw Error(ErrorCode::forbidden, "this key's role reads events of budgets only");
  return types;
}

// Positions are PostgreSQL bigints.
std::optional<int64_t> seen_by(const http::Request& request) {
  const auto id = http::last_event_id(request);
  if (!id) return std::nullopt;
  return static_cast<int64_t>(std::min<uint64_t>(*id, std::numeric_limits<int64_t>::max()));
}

http::ServerEvent as_sent(const Event& event) {
  return {event.type, json_text(to_json(event)), std::to_string(event.position)};
}

}  // namespace

void EventHandlers::add_routes(http::Routes& routes) {
  routes.add({.method = http::Method::get,
              .pattern = "/v1/events",
              .permission = http::Permission::read,
              .handler = [this](http::Request& request) { return list(request); }});
  routes.add({.method = http::Method::get,
              .pattern = "/v1/sandboxes/{id}/events",
              .permission = http::Permission::read_sandboxes,
              .handler = [this](http::Request& request) { return of_sandbox(request); }});
}

Task<http::Response> EventHandlers::list(http::Request& request) {
  EventQuery query{.tenant = request.caller.tenant,
                   .types = types_for(request.caller, types_of(request.query))};
  const auto seen = seen_by(request);
  const int64_t newest = co_await newest_position();
  query.after = std::min(seen.value_or(newest), newest);
  co_return stream(request, std::move(query));
}

// A client may be ahead of it: a log may have been restored from a backup.
Task<int64_t> EventHandlers::newest_position() {
  // Gives positions to the events committed so far.
  co_await log_.catch_up();
  co_return co_await log_.newest();
}

Task<http::Response> EventHandlers::of_sandbox(http::Request& request) {
  const auto id = path_id<SandboxId>(request, "sandbox");
  const TenantId tenant = request.tenant();
  const auto seen = seen_by(request);
  EventQuery query{.tenant = tenant, .sandbox = id, .types = types_of(request.query)};
  co_await check_(tenant, id);
  const int64_t newest = co_await newest_position();
  query.after = std::min(seen.value_or(0), newest);
  if (seen) {
    EventQuery rest = query;
    rest.limit = 1;
    const EventBatch batch = co_await log_.read(std::move(rest));
    // 204 stops a browser from reconnecting to a stream that has ended.
    if (batch.over && batch.events.empty()) co_return http::Response::empty(204);
  }
  co_return stream(request, std::move(query));
}

http::Response EventHandlers::stream(const http::Request& request, EventQuery query) {
  return http::event_stream({.request_id = request.id},
                            [this, query = std::move(query)](http::EventWriter& writer) {
                              return produce(query, writer);
                            });
}

Task<bool> EventHandlers::send_new(EventQuery& query, http::EventWriter& writer) {
  for (;;) {
    const EventBatch batch = co_await log_.read(query);
    for (const Event& event : batch.events) {
      http::ServerEvent sent = as_sent(event);
      co_await writer.send(std::move(sent));
    }
    const bool more = static_cast<int64_t>(batch.events.size()) == query.limit;
    query.after = batch.through;
    if (!more) co_return batch.over;
  }
}

Task<void> EventHandlers::produce(EventQuery query, http::EventWriter& writer) {
  const std::string subject = query.sandbox ? "sandboxes/" + query.sandbox->value : "";
  const EventNotifier::Subscription subscription{query.tenant, subject};
  EventNotifier::Listener listener(notifier_, subscription, co_await asio::this_coro::executor);
  // Lets a client that disconnects before the first event resume from here.
  http::ServerEvent place{"", "", std::to_string(query.after)};
  co_await writer.send(std::move(place));
  while (!notifier_.closed()) {
    const auto outcome = co_await attempt(send_new(query, writer));
    const auto* failure = std::get_if<Error>(&outcome);
    if (failure && failure->code != ErrorCode::unavailable) throw *failure;
    if (!failure && std::get<bool>(outcome)) co_return;
    // The stream survives an outage of the database and continues afterwards.
    co_await listener.wait(failure ? kDatabasePause : kLookAnyway);
  }
}

}  // namespace sandgate::api
