#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "providers/event_stream.hpp"

namespace sandgate {

// Several streams of server-sent events as one, in the order in which events arrive. A reader that
// stops reading stops the streams (a few events wait). Used and destroyed on `executor`.
class MergedEvents {
 public:
  MergedEvents(asio::any_io_executor executor, std::vector<std::unique_ptr<EventReader>> readers);
  ~MergedEvents();
  MergedEvents(const MergedEvents&) = delete;
  MergedEvents& operator=(const MergedEvents&) = delete;

  struct Item {
    size_t source = 0;  // index of its reader
    ServerEvent event;
  };
  // Empty when all streams ended; throws what broke one of them.
  Task<std::optional<Item>> next();

 private:
  struct Shared;
  static Task<void> pump(std::shared_ptr<Shared> shared, size_t source,
                         std::unique_ptr<EventReader> reader);

  std::shared_ptr<Shared> shared_;
};

}  // namespace sandgate
