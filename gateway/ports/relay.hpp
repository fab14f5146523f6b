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
  std::chrono::milliseconds silence{300'000};  // without a byte of the program, or of the client
  bool tls = false;  // clients come by TLS
};

// One request passed to a program in a sandbox, and its answer passed back. Both bodies stream at
// the same time, each as fast as its reader takes it; memory is two buffers.
class Relay {
 public:
  // What it refers to outlives serve().
  Relay(AppPool& pool, SandboxAccess& access, OpenSandbox box, PortAddress address,
        const http::Request& request, http::IncomingBody& body, RelaySettings settings);

  std::string cookie;  // to set along with the answer, or empty
  // Whether the port is open yet, as it was for this request: asked about once a second for as long
  // as something passes.
  std::function<Task<bool>()> still_open;

  // See RelayBody. Throws Error: unavailable (nothing listens, the program left or spoke no HTTP)
  // and timeout.
  Task<bool> serve(http::ClientSide& client);

 private:
  enum class Ending { done, again };  // again: the connection was dead before it was used

  Task<void> gather_body();
  Task<void> connect(bool fresh);
  Task<PortConnection> dial();
  Task<Ending> exchange();
  Task<Ending> answer();
  Task<void> upload();
  Task<void> upload_all();
  Task<bool> read_head();
  Task<Ending> switch_protocol();
  Task<Ending> pass_both_ways();
  Task<void> deliver();
  Task<void> pass_length(std::string head, uint64_t length);
  Task<void> pass_chunks(std::string head);
  Task<void> pass_rest(std::string head);
  Task<void> pass(std::string_view head, std::string_view bytes, std::string_view tail);
  // Waits for the program; 0 when it ended the connection.
  Task<size_t> hear();
  Task<void> check_open();
  Task<void> watch();  // until the port is closed: then the connection is

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
  bool streams_ = false, uploaded_ = false;  // the request's body
  bool reused_ = false, heard_ = false, hearing_ = false;  // of the connection in use
  bool upgraded_ = false, keep_alive_ = false;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();  // whether open
  std::exception_ptr upload_failure_;  // the client's fault: ends the exchange
};

}  // namespace sandgate::ports
