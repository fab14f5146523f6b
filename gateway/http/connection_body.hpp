#pragma once
#include <boost/beast/core/flat_buffer.hpp>

#include "gateway/http/request_parser.hpp"
#include "gateway/http/responder.hpp"
#include "gateway/http/transport.hpp"

namespace sandgate::http {

// Bytes read from a connection and not used yet, at most kMaxReadBuffer.
using ReadBuffer = boost::beast::flat_buffer;
inline constexpr size_t kMaxReadBuffer = 64 * 1024;

inline std::string_view unread(const ReadBuffer& buffer) {
  return {static_cast<const char*>(buffer.data().data()), buffer.size()};
}

// Reads one request's body off its connection as it is asked for. Sends "100 Continue" before the
// first wait when the client expects that.
class ConnectionBody final : public IncomingBody {
 public:
  ConnectionBody(Transport& transport, ReadBuffer& buffer, RequestParser& parser,
                 const Limits& limits)
      : transport_(transport), buffer_(buffer), parser_(parser), limits_(limits) {}

  Task<size_t> read(std::span<char> into) override;
  bool ended() const override { return parser_.is_done(); }
  std::optional<uint64_t> length() const override;
  bool broken() const override { return broken_; }
  Task<void> invite() override;
  void expect(Speed speed) override;

  // Drops what has arrived and was not asked for; whether that was all of it. Throws
  // Error(invalid).
  bool skip_received();

 private:
  Task<void> fill();
  // The next bytes, within what is left of the patience.
  Task<size_t> receive(asio::mutable_buffer into);

  Transport& transport_;
  ReadBuffer& buffer_;
  RequestParser& parser_;
  const Limits& limits_;
  std::optional<Pace> pace_ = limits_.upload;
  std::chrono::duration<double> waited_{0};  // less what the speed has given back
  bool continued_ = false, broken_ = false;
};

}  // namespace sandgate::http
