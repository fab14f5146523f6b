#pragma once
#include <functional>

#include "gateway/http/client_side.hpp"
#include "gateway/http/connection_body.hpp"
#include "gateway/http/transport.hpp"

namespace sandgate::http {

// The deadline of a relay and the callback for when it passes; checked by ConnectionSet.
struct RelayTimer {
  Deadline deadline;
  std::function<void()> callback;

  void fire() {
    deadline.disarm();
    if (callback) callback();
  }
};

// Implements ClientSide for one relayed exchange on a connection.
class ClientRelay final : public ClientSide {
 public:
  ClientRelay(Transport& transport, ReadBuffer& buffer, ConnectionBody& body, RelayTimer& timer,
              bool http11)
      : transport_(transport), buffer_(buffer), body_(body), timer_(timer), http11_(http11) {}

  bool http11() const override { return http11_; }
  bool keeps_alive() override;
  Task<void> write(std::span<const asio::const_buffer> buffers,
                   std::chrono::milliseconds limit) override;
  void upgrade() override;
  Task<size_t> read(std::span<char> into) override;
  void start_timer(std::chrono::milliseconds limit) override { timer_.deadline.arm(limit); }
  void cancel_timer() override { timer_.deadline.disarm(); }
  void on_timer(std::function<void()> callback) override { timer_.callback = std::move(callback); }

  bool started() const { return started_; }  // whether anything was written

  // Set by the connection.
  std::function<bool()> may_keep_alive;
  std::function<void()> when_upgraded;

 private:
  Transport& transport_;
  ReadBuffer& buffer_;
  ConnectionBody& body_;
  RelayTimer& timer_;
  const bool http11_;
  bool started_ = false, upgraded_ = false;
};

}  // namespace sandgate::http
