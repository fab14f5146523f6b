#pragma once
#include <chrono>
#include <exception>
#include <functional>
#include <memory>

#include "gateway/http/client_side.hpp"
#include "gateway/ports/app_connection.hpp"

namespace sandgate::ports {

// The connection to a program during one exchange. It is given up after too long a silence, or once
// the port is closed. Lives on the client's loop; one concurrent reader and writer.
class WatchedApp : public std::enable_shared_from_this<WatchedApp> {
 public:
  // Whether the port is still open as it was for this request; called about once a second. May
  // outlive the exchange; throws nothing.
  using StillOpen = std::function<Task<bool>()>;

  // `silence`: limit without a byte from the program or the client. The client must outlive it.
  WatchedApp(http::ClientSide& client, std::chrono::milliseconds silence, StillOpen still_open);

  void use(std::unique_ptr<AppConnection> connection);  // null: none for now
  std::unique_ptr<AppConnection> release() { return std::move(connection_); }
  AppConnection& connection() const { return *connection_; }  // while there is one

  // Reads from the program; 0 when it closed the connection. Throws Error: not_found (the port was
  // closed), timeout (silence), or what give_up() was called with.
  Task<size_t> hear();
  bool heard() const { return heard_; }  // whether anything came on this connection

  // Silence counts from now on.
  void limit_silence();
  // Tells that the client sent something, which ends a silence that hear() waits in.
  void client_spoke();
  // Throws Error(not_found) if the port was closed. Asks once a second at most.
  Task<void> check_open();
  Task<void> watch();  // gives the connection up once the port is closed

  void give_up(std::exception_ptr reason);
  void throw_reason() const;  // why it was given up, if it was

 private:
  bool look_is_due() const;
  void ring();  // while nobody says anything, about once a second
  static Task<void> look(std::weak_ptr<WatchedApp> app, StillOpen still_open);

  http::ClientSide& client_;
  const std::chrono::milliseconds silence_;
  const StillOpen still_open_;
  std::unique_ptr<AppConnection> connection_;
  bool heard_ = false, hearing_ = false;
  bool looking_ = false;  // look() is under way
  std::exception_ptr reason_;
  std::chrono::steady_clock::time_point silent_since_;
  std::chrono::steady_clock::time_point looked_ = std::chrono::steady_clock::now();  // whether open
};

}  // namespace sandgate::ports
