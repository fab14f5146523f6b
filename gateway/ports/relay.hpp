#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gateway/ports/app_exchange.hpp"
#include "gateway/ports/app_pool.hpp"
#include "gateway/ports/app_response.hpp"
#include "gateway/ports/forwarded_body.hpp"
#include "gateway/ports/forwarded_response.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::ports {

struct RelaySettings {
  std::chrono::milliseconds silence{300'000};  // limit without a byte from program or client
  bool tls = false;  // clients connect by TLS
};

// Relays one request to a program in a sandbox and its response back. Both bodies stream
// concurrently with back-pressure; memory is bounded by two buffers.
class Relay {
 public:
  // All referenced objects must outlive serve().
  Relay(AppPool& pool, SandboxAccess& access, OpenSandbox box, PortAddress address,
        const http::Request& request, http::IncomingBody& body, RelaySettings settings);

  std::string cookie;  // Set-Cookie to add to the response; empty: none
  AppExchange::StillOpen still_open;  // set before serve()

  // See RelayBody. Throws Error: unavailable (nothing listens, or the program closed the connection
  // or sent no HTTP), not_found (the port was closed meanwhile), invalid and timeout.
  Task<bool> serve(http::ClientSide& client);

 private:
  enum class Ending { done, retry };  // retry: the connection was closed before use

  bool take_idle(const asio::any_io_executor& executor);  // false: there is no idle connection
  Task<void> connect();
  Task<PortConnection> dial();
  Task<Ending> exchange();
  Task<Ending> answer();
  Task<void> upload();
  Task<bool> read_head();
  Task<Ending> switch_protocol();
  Task<void> forward_response();

  Upstream upstream() const;
  std::string answer_head(const AnswerFraming& framing) const;
  bool asks_for_websocket() const;
  bool repeatable() const;
  bool reusable() const;
  Error no_answer() const;
  AppConnection& program() const { return app_->connection(); }

  AppPool& pool_;
  SandboxAccess& access_;
  const OpenSandbox box_;
  const PortAddress address_;
  const http::Request& request_;
  const RelaySettings settings_;

  http::ClientSide* client_ = nullptr;
  ForwardedBody body_;
  std::unique_ptr<AppPool::Slot> slot_;
  std::shared_ptr<AppExchange> app_;
  std::optional<AppResponse> response_;
  bool reused_ = false;  // the present connection
  bool upgraded_ = false, keep_alive_ = false;
};

}  // namespace sandgate::ports
