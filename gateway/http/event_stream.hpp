#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gateway/http/request.hpp"
#include "gateway/http/response.hpp"
#include "gateway/http/shared_sink.hpp"

namespace sandgate::http {

// One server-sent event. Empty members are omitted; `data` may have several lines.
struct ServerEvent {
  std::string event;
  std::string data;
  std::string id;
};

// Encodes an event for the wire. Line breaks in `event` and `id` become spaces. A text with only an
// id is not an event: it sets the id from which the client resumes.
std::string to_text(const ServerEvent& event);

// Returns the value of Last-Event-ID; empty without the header. Throws Error(invalid) if it is not
// a number.
std::optional<uint64_t> last_event_id(const Request& request);

// Writes the events of one stream. For coroutines of one loop.
class EventWriter {
 public:
  explicit EventWriter(SharedSink& sink) : sink_(sink) {}
  // Returns once the connection accepted the event.
  Task<void> send(ServerEvent event) { return sink_.write(to_text(event)); }
  // All of them in one piece, which costs hardly more than one.
  Task<void> send_all(const std::vector<ServerEvent>& events);

 private:
  SharedSink& sink_;
};

// Makes a text/event-stream answer that lasts until `produce` returns. An Error thrown by `produce`
// is sent as a final event "error" with the problem document.
struct EventStreamOptions {
  std::string request_id;  // for the problem document
  std::chrono::milliseconds keep_alive{15'000};
};
Response event_stream(EventStreamOptions options, std::function<Task<void>(EventWriter&)> produce);

}  // namespace sandgate::http
