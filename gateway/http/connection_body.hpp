#pragma once
#include <boost/beast/core/flat_buffer.hpp>

#include "gateway/http/request_parser.hpp"
#include "gateway/http/responder.hpp"
#include "gateway/http/transport.hpp"

namespace sandgate::http {

// Received bytes that are not parsed yet, at most kMaxReadBuffer or, if that is more, a whole head.
using ReadBuffer = boost::beast::flat_buffer;
inline constexpr size_t kMaxReadBuffer = 64 * 1024;

inline std::string_view unread(const ReadBuffer& buffer) {
  return {static_cast<const char*>(buffer.data().data()), buffer.size()};
}

// Reads one request's body from its connection on demand. Sends "100 Continue" before the first
// wait if the client expects it.
class ConnectionBody final : public IncomingBody {
 public:
  ConnectionBody(Transport& transport, ReadBuffer& buffer, RequestParser& parser,
                 const Limits& limits)
      : transport_(transport), buffer_(buffer), parser_(parser), limits_(limits) {}

  Task<size_t> read(std::span<char> into) override;
  bool ended() const override { return parser_.is_done(); }
  std::optional<uint64_t> length() const override;
  bool broken() const override { return broken_; }
  Task<void> send_continue() override;
  void set_min_pace(MinPace pace) override;

  // Drops received body bytes. Returns whether the body ended. Throws Error(invalid).
  bool skip_received();

 private:
  Task<void> fill();
  // Reads the next bytes within the remaining patience.
  Task<size_t> receive(asio::mutable_buffer into);

  Transport& transport_;
  ReadBuffer& buffer_;
  RequestParser& parser_;
  const Limits& limits_;
  std::optional<Pace> pace_ = limits_.upload;
  std::chrono::duration<double> waited_{0};  // minus what received bytes have earned
  bool continued_ = false, broken_ = false;
};

}  // namespace sandgate::http
