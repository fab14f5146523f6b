#pragma once
#include <boost/asio/experimental/channel.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "gateway/core/async.hpp"

namespace sandgate {

// Merges several streams, in order of arrival. A Reader has a type Event and a next() that returns
// empty at the end. At most 16 events are buffered, so a slow caller pauses the streams. Must be
// used on `executor` and may be destroyed anywhere.
template <class Reader>
class MergedStreams {
 public:
  MergedStreams(asio::any_io_executor executor, std::vector<std::unique_ptr<Reader>> readers);
  ~MergedStreams();
  MergedStreams(const MergedStreams&) = delete;
  MergedStreams& operator=(const MergedStreams&) = delete;

  struct Item {
    size_t source = 0;  // index of its reader
    typename Reader::Event event;
  };
  // Returns empty once all streams have ended; throws the failure of the first that breaks.
  Task<std::optional<Item>> next();

 private:
  static constexpr size_t kWaiting = 16;
  struct Shared;
  static Task<void> pump(std::shared_ptr<Shared> shared, size_t source,
                         std::unique_ptr<Reader> reader);

  std::shared_ptr<Shared> shared_;
};

template <class Reader>
struct MergedStreams<Reader>::Shared {
  // An item, the end of a stream (both empty), or a failure.
  struct Arrival {
    std::optional<Item> item;
    std::exception_ptr failure;
  };
  using Channel = asio::experimental::channel<void(boost::system::error_code, Arrival)>;

  Shared(asio::any_io_executor executor, size_t count)
      : channel(executor, kWaiting), stops(count) {}

  Channel channel;
  std::vector<asio::cancellation_signal> stops;
  size_t open = 0;
};

template <class Reader>
MergedStreams<Reader>::MergedStreams(asio::any_io_executor executor,
                                     std::vector<std::unique_ptr<Reader>> readers)
    : shared_(std::make_shared<Shared>(executor, readers.size())) {
  shared_->open = readers.size();
  for (size_t i = 0; i < readers.size(); ++i) {
    auto slot = shared_->stops[i].slot();
    asio::co_spawn(executor, pump(shared_, i, std::move(readers[i])),
                   asio::bind_cancellation_slot(slot, asio::detached));
  }
}

template <class Reader>
MergedStreams<Reader>::~MergedStreams() {
  // The signals must be emitted on the executor, so the shared state has to live until then.
  asio::dispatch(shared_->channel.get_executor(), [shared = shared_] {
    shared->channel.close();
    for (auto& stop : shared->stops) stop.emit(asio::cancellation_type::terminal);
  });
}

template <class Reader>
Task<void> MergedStreams<Reader>::pump(std::shared_ptr<Shared> shared, size_t source,
                                       std::unique_ptr<Reader> reader) {
  typename Shared::Arrival last;
  boost::system::error_code gone;
  try {
    for (;;) {
      auto event = co_await reader->next();
      if (!event) break;
      typename Shared::Arrival arrival;
      arrival.item = Item{source, std::move(*event)};
      co_await shared->channel.async_send({}, std::move(arrival),
                                          asio::redirect_error(asio::use_awaitable, gone));
      if (gone) co_return;
    }
  } catch (...) {
    last.failure = std::current_exception();
  }
  if (shared->channel.is_open())
    co_await shared->channel.async_send({}, std::move(last),
                                        asio::redirect_error(asio::use_awaitable, gone));
}

template <class Reader>
Task<std::optional<typename MergedStreams<Reader>::Item>> MergedStreams<Reader>::next() {
  while (shared_->open > 0) {
    auto arrival = co_await shared_->channel.async_receive(asio::use_awaitable);
    if (arrival.failure) std::rethrow_exception(arrival.failure);
    if (arrival.item) co_return std::move(arrival.item);
    --shared_->open;
  }
  co_return std::nullopt;
}

}  // namespace sandgate
