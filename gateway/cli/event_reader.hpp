#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace sandgate::cli {

struct Event {
  std::string type;  // "message" if the stream names no type
  std::string data;
  std::string id;
};

// An incremental parser of server-sent events; feed() accepts pieces of any size. Throws
// Error(too_large) if one event exceeds 4 MiB.
class EventReader {
 public:
  explicit EventReader(std::function<void(const Event&)> on_event)
      : on_event_(std::move(on_event)) {}
  void feed(std::string_view bytes);

 private:
  void line(std::string_view text);

  std::function<void(const Event&)> on_event_;
  std::string pending_;
  Event event_;
  bool has_data_ = false;
};

}  // namespace sandgate::cli
