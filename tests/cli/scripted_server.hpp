#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <boost/asio.hpp>

namespace sandgate::cli {

// A tiny HTTP/1.1 server on a free port of loopback: each connection is one request, answered by a
// function, in a thread of its own, and closed. Enough to see what a client sends.
class ScriptedServer {
 public:
  struct Request {
    std::string method, target, head, body;
    // Sends a part of the answer before the function returns the rest.
    std::function<void(const std::string& part)> send;
  };
  // Returns the whole answer, head included.
  using Answer = std::function<std::string(const Request&)>;

  explicit ScriptedServer(Answer answer);
  ~ScriptedServer();

  std::string url() const;
  std::vector<Request> requests() const;  // so far, in order

  // "HTTP/1.1 200 OK" and so on around a body.
  static std::string json(int status, const std::string& body);
  static std::string of_type(const std::string& type, const std::string& body);

 private:
  void serve();
  void handle(boost::asio::ip::tcp::socket socket);

  Answer answer_;
  boost::asio::io_context io_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::atomic<bool> stopping_{false};
  mutable std::mutex mutex_;
  std::vector<Request> requests_;  // guarded by mutex_
  std::vector<std::thread> connections_;
  std::thread thread_;
};

}  // namespace sandgate::cli
