#pragma once
#include <chrono>
#include <functional>
#include <span>

#include "gateway/core/async.hpp"

namespace sandgate::http {

// The client of an exchange whose handler writes the raw answer, head included. Lives on the
// connection's loop; one reader and one writer at a time.
class ClientSide {
 public:
  virtual ~ClientSide() = default;
  virtual bool http11() const = 0;
  // Whether another request may follow on the connection. If not, the answer must say so.
  virtual bool keeps_alive() = 0;
  // Returns once the kernel took all bytes. Throws boost::system::system_error if the client is
  // gone or accepts nothing for `limit`.
  virtual Task<void> write(std::span<const asio::const_buffer> buffers,
                           std::chrono::milliseconds limit) = 0;
  // After this call read() returns the client's raw bytes, 0 at the end of the connection.
  virtual void upgrade() = 0;
  virtual Task<size_t> read(std::span<char> into) = 0;
  // Calls the on_timer() callback once on this loop after `limit`, unless start_timer() or
  // cancel_timer() is called before. Accurate to about 100 ms; uses no timer of its own.
  virtual void start_timer(std::chrono::milliseconds limit) = 0;
  virtual void cancel_timer() = 0;
  virtual void on_timer(std::function<void()> callback) = 0;
};

struct RelayBody {
  // Serves the exchange; returns whether another request may follow on the connection. An Error
  // before the first byte becomes the answer. Any later failure cuts the connection.
  std::function<Task<bool>(ClientSide&)> serve;
};

}  // namespace sandgate::http
