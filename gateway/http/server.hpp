#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gateway/http/connection.hpp"
#include "gateway/http/io_threads.hpp"
#include "gateway/http/tls.hpp"

namespace sandgate::http {

struct ServerOptions {
  std::string address = "127.0.0.1";  // an IP address, or "localhost"
  uint16_t port = 8080;  // 0: any free one
  std::optional<TlsFiles> tls;
  Live<size_t> max_connections = 8192;  // beyond, one that waits for a request ends; else 503
  std::chrono::milliseconds bind_patience{3000};  // how long a taken port is tried again
  std::chrono::milliseconds grace{30'000};  // for answers in progress when stopping
  Limits limits;
  bool access_log = false;  // one line per answer, not only for those of 500 and more
};

// One listening address and the connections that came through it, spread over the io threads.
// Any number of servers share the threads, each with a responder of its own.
class Server {
 public:
  // `io` and `responder` must outlive it.
  Server(IoThreads& io, Responder& responder, ServerOptions options);
  ~Server();  // stop() without grace
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds and accepts from now on. Throws Error(unavailable) when the address cannot be had and
  // Error(invalid) when it or the TLS files are wrong.
  void start();
  uint16_t port() const { return port_; }  // after start()
  size_t connections() const { return census_->count(); }
  // What counts from now on of the connections, the bytes of heads, the grace and the log: for
  // connections that come, heads that begin and the next stop(). On the thread that stops it.
  void change(const ServerOptions& options);
  // Reads the certificate files again; new connections use them. Throws Error(invalid).
  void reload_tls();
  // Blocks: no more accepting, idle connections end, answers in progress get options.grace and
  // are cancelled then. Not to be called on an io thread.
  void stop();

 private:
  Task<void> accept_for_ever();
  void take(Transport::Socket socket, size_t loop);
  // Ends a connection that waits for a request for another's sake. False: none waits.
  bool make_room();
  size_t quietest_loop() const;
  void stop_within(std::chrono::milliseconds grace);
  void on_every_loop(void (Patrol::*what)());

  IoThreads& io_;
  ServerOptions options_;
  ConnectionContext context_;
  std::optional<TlsIdentity> tls_;
  std::shared_ptr<Census> census_ = std::make_shared<Census>();
  std::vector<std::shared_ptr<Patrol>> patrols_;  // one per loop
  std::optional<asio::ip::tcp::acceptor> acceptor_;  // on loop 0
  Census accepting_;
  uint16_t port_ = 0;
  bool running_ = false;
};

}  // namespace sandgate::http
