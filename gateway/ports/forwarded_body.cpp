#include "gateway/ports/forwarded_body.hpp"

#include "gateway/http/chunk_head.hpp"

namespace sandgate::ports {
namespace {

constexpr size_t kSmallBody = 16 * 1024;  // sent together with its head
constexpr size_t kUploadBytes = 32 * 1024;

}  // namespace

Task<void> ForwardedBody::gather() {
  const auto length = framing_.length;
  if (length && *length <= kSmallBody) {
    body_.set_min_pace(http::IncomingBody::MinPace::whole);
    small_.resize(*length);
    for (size_t have = 0; have < small_.size();) {
      const std::span<char> room(small_.data() + have, small_.size() - have);
      const size_t got = co_await body_.read(room);
      if (got == 0) throw boost::system::system_error(asio::error::connection_aborted);
      have += got;
    }
    co_return;
  }
  // It may come as slowly as somebody types.
  body_.set_min_pace(http::IncomingBody::MinPace::none);
  co_await body_.send_continue();
  streams_ = true;
  framing_.chunked = !length;
}

Task<void> ForwardedBody::upload(AppExchange& app) {
  const std::unique_ptr<char[]> bytes(new char[kUploadBytes]);
  const std::span<char> room(bytes.get(), kUploadBytes);
  for (;;) {
    const size_t got = co_await body_.read(room);
    co_await app.check_open();
    std::string head, tail;
    if (framing_.chunked) {
      head = http::chunk_head(got);
      tail = "\r\n";
    }
    const std::array<asio::const_buffer, 3> buffers{
        asio::buffer(head), asio::buffer(bytes.get(), got), asio::buffer(tail)};
    const bool taken = co_await app.connection().write(buffers);
    // The program may have answered already and not want the rest.
    if (!taken) co_return;
    app.note_client_activity();
    if (got == 0) break;
  }
  uploaded_ = true;
}

}  // namespace sandgate::ports
