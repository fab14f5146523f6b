#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"
#include "gateway/http/shared_sink.hpp"

namespace sandgate::http {

// One server-sent event. Empty members are left out; `data` may have several lines.
struct ServerEvent {
  std::string event;
  std::string data;
  std::string id;
};

// As it travels. Line ends in `event` and `id` become spaces. With nothing but an id it is no
// event: it only tells a client where to continue.
std::string to_text(const ServerEvent& event);

// The number of the last event a client has seen; empty without the header. Throws Error(invalid)
// when it is no number.
std::optional<uint64_t> last_event_id(const Request& request);

// Where the events of one stream go. For coroutines of one loop.
class EventWriter {
 public:
  explicit EventWriter(SharedSink& sink) : sink_(sink) {}
  // Returns when the client took the event.
  Task<void> send(ServerEvent event) { return sink_.write(to_text(event)); }

 private:
  SharedSink& sink_;
};

// A text/event-stream answer. `produce` sends until it returns; an Error it throws goes out as a
// last event "error" with the problem document.
struct EventStreamOptions {
  std::string request_id;  // for the problem document
  std::chrono::milliseconds keep_alive{15'000};
};
Response event_stream(EventStreamOptions options, std::function<Task<void>(EventWriter&)> produce);

}  // namespace sandgate::http
