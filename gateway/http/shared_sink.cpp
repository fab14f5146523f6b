#include "gateway/http/shared_sink.hpp"

namespace sandgate::http {

Task<void> SharedSink::write(std::string bytes) {
  while (writing_) co_await free_.async_wait(asio::as_tuple(asio::use_awaitable));
  struct Turn {
    SharedSink& sink;
    explicit Turn(SharedSink& of) : sink(of) { sink.writing_ = true; }
    ~Turn() {
      sink.writing_ = false;
      sink.free_.cancel();
    }
  };
  const Turn turn(*this);
  ++writes_;
  co_await sink_.write(bytes);
}

Task<void> SharedSink::keep_alive(std::chrono::milliseconds interval, std::string sign) {
  for (;;) {
    const uint64_t before = writes_;
    co_await sleep_for(interval);
    if (writes_ == before && !writing_) co_await write(sign);
  }
}

}  // namespace sandgate::http
