#pragma once
#include <chrono>
#include <exception>
#include <functional>
#include <memory>

#include "gateway/http/client_side.hpp"
#include "gateway/ports/app_connection.hpp"

namespace sandgate::ports {

// The connection to a program during one exchange. It is aborted after too long a silence, or once
// the port is closed. Lives on the client's loop; one concurrent reader and writer.
class AppExchange : public std::enable_shared_from_this<AppExchange> {
 public:
  // Whether the port is still open as it was for this request; called about once a second. May
  // outlive the exchange; throws nothing.
  using StillOpen = std::function<Task<bool>()>;

  // `silence`: limit without a byte from the program or the client. The client must outlive it.
  AppExchange(http::ClientSide& client, std::chrono::milliseconds silence, StillOpen still_open);

  void use(std::unique_ptr<AppConnection> connection);  // null: none for now
  std::unique_ptr<AppConnection> release() { return std::move(connection_); }
  AppConnection& connection() const { return *connection_; }  // while there is one

  // Reads from the program; 0 when it closed the connection. Throws Error: not_found (the port was
  // closed), timeout (silence), or what abort() was called with.
  Task<size_t> read();
  bool has_received() const { return received_; }  // whether anything came on this connection

  // Silence counts from now on.
  void restart_silence_timer();
  // Tells that the client sent something, which ends a silence that read() waits in.
  void note_client_activity();
  // Throws Error(not_found) if the port was closed. Asks once a second at most.
  Task<void> check_open();
  Task<void> watch();  // aborts the exchange once the port is closed

  void abort(std::exception_ptr reason);
  void throw_reason() const;  // why it was aborted, if it was

 private:
  bool check_is_due() const;
  void on_timer();  // while nobody says anything, about once a second
  static Task<void> check_in_background(std::weak_ptr<AppExchange> app, StillOpen still_open);

  http::ClientSide& client_;
  const std::chrono::milliseconds silence_;
  const StillOpen still_open_;
  std::unique_ptr<AppConnection> connection_;
  bool received_ = false, reading_ = false;
  bool checking_ = false;  // check_in_background() is under way
  std::exception_ptr reason_;
  std::chrono::steady_clock::time_point silent_since_;
  std::chrono::steady_clock::time_point open_checked_at_ = std::chrono::steady_clock::now();
};

}  // namespace sandgate::ports
