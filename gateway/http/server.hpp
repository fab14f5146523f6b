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
  uint16_t port = 8080;  // 0: any free port
  std::optional<TlsFiles> tls;
  RelaxedAtomic<size_t> max_connections = 8192;  // then an idle one is closed, or else 503
  std::chrono::milliseconds bind_timeout{3000};  // how long a port in use is retried
  std::chrono::milliseconds grace{30'000};  // for answers in progress when stopping
  Limits limits;
  bool access_log = false;  // log every answer, not only those of status 500 and above
};

// One listening address and its connections, spread over the io threads. Several servers, each with
// its own responder, can share the threads.
class Server {
 public:
  // `io` and `responder` must outlive it.
  Server(IoThreads& io, Responder& responder, ServerOptions options);
  ~Server();  // stop() without grace
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds and starts to accept. Throws Error(unavailable) if the address cannot be bound and
  // Error(invalid) if the address or the TLS files are wrong.
  void start();
  uint16_t port() const { return port_; }  // after start()
  size_t connections() const { return open_connections_->count(); }
  // Applies max_connections, grace, header_bytes and access_log to later connections, heads,
  // answers and the next stop(). Call on the thread that calls stop().
  void change(const ServerOptions& options);
  // Reads the certificate files again for new connections. Throws Error(invalid).
  void reload_tls();
  // Stops accepting, ends idle connections, and gives answers in progress options.grace before it
  // cancels them. Blocks; must not be called on an io thread.
  void stop();

 private:
  Task<void> accept_until_closed();
  // Throws Error(unavailable) if no connection could be accepted.
  Task<void> accept_one();
  void take(Transport::Socket socket, size_t loop);
  // Ends a waiting connection to make room for a new one. Returns false if none is waiting.
  bool evict_waiting();
  size_t least_loaded_loop() const;
  void stop_within(std::chrono::milliseconds grace);
  void on_every_loop(void (ConnectionSet::*what)());

  IoThreads& io_;
  ServerOptions options_;
  ConnectionContext context_;
  std::optional<TlsIdentity> tls_;
  std::shared_ptr<WaitGroup> open_connections_ = std::make_shared<WaitGroup>();
  std::vector<std::shared_ptr<ConnectionSet>> connection_sets_;  // one per loop
  std::optional<asio::ip::tcp::acceptor> acceptor_;  // on loop 0
  WaitGroup accepting_;
  uint16_t port_ = 0;
  bool running_ = false;
};

}  // namespace sandgate::http
