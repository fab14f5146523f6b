#pragma once
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "gateway/http/responder.hpp"
#include "gateway/ports/app_pool.hpp"
#include "gateway/ports/app_response.hpp"
#include "gateway/ports/forwarding.hpp"
#include "gateway/ports/returning.hpp"
#include "gateway/sandboxes/access.hpp"

namespace sandgate::ports {

struct RelaySettings {
  std::chrono::milliseconds silence{300'000};  // limit without a byte from program or client
  bool tls = false;  // clients connect by TLS
};

// Relays one request to a program in a sandbox and its response back. Both bodies stream
// concurrently with back-pressure; memory is bounded by two buffers.
class Relay : public std::enable_shared_from_this<Relay> {
 public:
  // All referenced objects must outlive serve().
  Relay(AppPool& pool, SandboxAccess& access, OpenSandbox box, PortAddress address,
        const http::Request& request, http::IncomingBody& body, RelaySettings settings);

  std::string cookie;  // Set-Cookie to add to the response; empty: none
  // Whether the port is still open as it was for this request; called about once a second. May
  // outlive the relay; throws nothing.
  std::function<Task<bool>()> still_open;

  // See RelayBody. Throws Error: unavailable (nothing listens, or the program closed the connection
  // or sent no HTTP), not_found (the port was closed meanwhile), invalid and timeout.
  Task<bool> serve(http::ClientSide& client);

 private:
  enum class Ending { done, again };  // again: the connection was closed before use

  Task<void> gather_body();
  Task<void> connect(bool fresh);
  Task<PortConnection> dial();
  Task<Ending> exchange();
  Task<Ending> answer();
  Task<void> upload();
  Task<void> upload_all();
  Task<bool> read_head();
  Task<Ending> switch_protocol();
  Task<void> deliver();
  Task<void> pass_length(std::string head, uint64_t length);
  Task<void> pass_chunks(std::string head);
  Task<void> pass_rest(std::string head);
  Task<void> pass(std::string_view head, std::string_view bytes, std::string_view tail);
  // Reads from the program; 0 when it closed the connection.
  Task<size_t> hear();
  Task<void> check_open();  // throws Error(not_found)
  // From now on, the connection is given up after settings_.silence, or once the port is closed.
  void limit_silence();
  void ring();  // while nobody says anything, about once a second
  static Task<void> look(std::weak_ptr<Relay> relay, std::function<Task<bool>()> still_open);
  Task<void> watch();  // gives the connection up once the port is closed

  AnswerFraming framing() const;
  Upstream upstream() const;
  std::string answer_head(const AnswerFraming& framing) const;
  bool asks_for_upgrade() const;
  bool repeatable() const;
  bool reusable() const;
  Error no_answer() const;

  AppPool& pool_;
  SandboxAccess& access_;
  const OpenSandbox box_;
  const PortAddress address_;
  const http::Request& request_;
  http::IncomingBody& body_;
  const RelaySettings settings_;

  http::ClientSide* client_ = nullptr;
  std::unique_ptr<AppPool::Seat> seat_;
  std::unique_ptr<AppConnection> app_;
  std::optional<AppResponse> response_;
  BodyFraming body_framing_;
  std::string small_body_;
  bool streams_ = false, uploaded_ = false;  // of the request's body
  bool reused_ = false, heard_ = false, hearing_ = false;  // of the current connection
  bool upgraded_ = false, keep_alive_ = false;
  bool looking_ = false, closed_ = false;  // look() is under way; it found the port closed
  std::chrono::steady_clock::time_point silent_since_;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();  // whether open
  std::exception_ptr upload_failure_;  // of the client; ends the exchange
};

}  // namespace sandgate::ports
