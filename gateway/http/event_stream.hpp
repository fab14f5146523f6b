#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "gateway/http/message.hpp"

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
  EventWriter(BodySink& sink, asio::any_io_executor executor)
      : sink_(sink), free_(std::move(executor), asio::steady_timer::time_point::max()) {}

  // Returns when the client took the event.
  Task<void> send(ServerEvent event);
  // Sends a comment whenever nothing else was sent for `interval`. Never returns.
  Task<void> keep_alive(std::chrono::milliseconds interval);

 private:
  Task<void> write(std::string text);

  BodySink& sink_;
  asio::steady_timer free_;  // cancelled when a write ends
  bool writing_ = false;
  uint64_t writes_ = 0;
};

// A text/event-stream answer. `produce` sends until it returns; an Error it throws goes out as a
// last event "error" with the problem document.
struct EventStreamOptions {
  std::string request_id;  // for the problem document
  std::chrono::milliseconds keep_alive{15'000};
};
Response event_stream(EventStreamOptions options, std::function<Task<void>(EventWriter&)> produce);

}  // namespace sandgate::http
