#pragma once
#include <functional>

#include "gateway/http/client_side.hpp"
#include "gateway/http/connection_body.hpp"
#include "gateway/http/transport.hpp"

namespace sandgate::http {

// The deadline of a relay and the callback for when it passes; checked by Patrol.
struct Alarm {
  Deadline deadline;
  std::function<void()> ring;

  void go_off() {
    deadline.disarm();
    if (ring) ring();
  }
};

// Implements ClientSide for one relayed exchange on a connection.
class ClientRelay final : public ClientSide {
 public:
  ClientRelay(Transport& transport, ReadBuffer& buffer, ConnectionBody& body, Alarm& alarm,
              bool http11)
      : transport_(transport), buffer_(buffer), body_(body), alarm_(alarm), http11_(http11) {}

  bool http11() const override { return http11_; }
  bool keeps_alive() override;
  Task<void> write(std::span<const asio::const_buffer> buffers,
                   std::chrono::milliseconds limit) override;
  void upgrade() override;
  Task<size_t> read(std::span<char> into) override;
  void set_alarm(std::chrono::milliseconds limit) override { alarm_.deadline.arm(limit); }
  void still_alarm() override { alarm_.deadline.disarm(); }
  void on_alarm(std::function<void()> ring) override { alarm_.ring = std::move(ring); }

  bool started() const { return started_; }  // whether anything was written

  // Set by the connection.
  std::function<bool()> may_keep_alive;
  std::function<void()> when_upgraded;

 private:
  Transport& transport_;
  ReadBuffer& buffer_;
  ConnectionBody& body_;
  Alarm& alarm_;
  const bool http11_;
  bool started_ = false, upgraded_ = false;
};

}  // namespace sandgate::http
