#include "providers/merged_events.hpp"

#include <boost/asio/experimental/channel.hpp>

namespace sandgate {
namespace {

constexpr size_t kWaiting = 16;

}  // namespace

struct MergedEvents::Shared {
  // An item, nothing for a stream's end, or why it broke.
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

MergedEvents::MergedEvents(asio::any_io_executor executor,
                           std::vector<std::unique_ptr<EventReader>> readers)
    : shared_(std::make_shared<Shared>(executor, readers.size())) {
  shared_->open = readers.size();
  for (size_t i = 0; i < readers.size(); ++i) {
    auto slot = shared_->stops[i].slot();
    asio::co_spawn(executor, pump(shared_, i, std::move(readers[i])),
                   asio::bind_cancellation_slot(slot, asio::detached));
  }
}

MergedEvents::~MergedEvents() {
  shared_->channel.close();
  for (auto& stop : shared_->stops) stop.emit(asio::cancellation_type::terminal);
}

Task<void> MergedEvents::pump(std::shared_ptr<Shared> shared, size_t source,
                              std::unique_ptr<EventReader> reader) {
  Shared::Arrival last;
  boost::system::error_code gone;
  try {
    for (;;) {
      auto event = co_await reader->next();
      if (!event) break;
      Shared::Arrival arrival;
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

Task<std::optional<MergedEvents::Item>> MergedEvents::next() {
  while (shared_->open > 0) {
    auto arrival = co_await shared_->channel.async_receive(asio::use_awaitable);
    if (arrival.failure) std::rethrow_exception(arrival.failure);
    if (arrival.item) co_return std::move(arrival.item);
    --shared_->open;
  }
  co_return std::nullopt;
}

}  // namespace sandgate
