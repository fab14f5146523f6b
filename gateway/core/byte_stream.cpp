#include "gateway/core/byte_stream.hpp"

#include <boost/beast/websocket/ssl.hpp>
#include <boost/beast/websocket/teardown.hpp>

namespace sandgate {
namespace {

constexpr size_t kRecordBytes = 16 * 1024;  // the most that one TLS record carries

}  // namespace

void ByteStream::read_some(asio::mutable_buffer into, Transferred done) {
  if (tls_)
    tls_->async_read_some(into, std::move(done));
  else
    socket_->async_read_some(into, std::move(done));
}

// Given several buffers, Asio's TLS stream sends the first in a record, and thus a packet, of its
// own.
void ByteStream::write_some(const Pieces& pieces, Transferred done) {
  if (!tls_) return socket_->async_write_some(pieces, std::move(done));
  asio::const_buffer first = pieces[0];
  if (pieces[1].size() > 0 && first.size() < kRecordBytes) {
    record_.resize(std::min(asio::buffer_size(pieces), kRecordBytes));
    asio::buffer_copy(asio::buffer(record_), pieces);
    first = asio::buffer(record_);
  }
  tls_->async_write_some(first, std::move(done));
}

void ByteStream::close() {
  boost::system::error_code ignored;
  socket_->close(ignored);
}

// Beast posts to the handler's executor, which fails for the executor of any_completion_handler.
void ByteStream::shut_down(boost::beast::role_type role, Ended done) {
  using boost::beast::websocket::async_teardown;
  const auto executor = asio::get_associated_executor(done);
  const auto slot = asio::get_associated_cancellation_slot(done);
  auto pass_on = [executor, done = std::move(done)](boost::system::error_code failure) mutable {
    asio::dispatch(executor,
                   [done = std::move(done), failure]() mutable { std::move(done)(failure); });
  };
  auto ended =
      asio::bind_cancellation_slot(slot, asio::bind_executor(get_executor(), std::move(pass_on)));
  if (tls_)
    async_teardown(role, *tls_, std::move(ended));
  else
    async_teardown(role, *socket_, std::move(ended));
}

void beast_close_socket(ByteStream& stream) { stream.close(); }

}  // namespace sandgate
