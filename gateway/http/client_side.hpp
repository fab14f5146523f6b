#pragma once
#include <chrono>
#include <functional>
#include <span>

#include "gateway/core/async.hpp"

namespace sandgate::http {

// The client of an answer that its handler writes itself, byte by byte. Lives on the connection's
// loop; one reader and one writer at a time.
class ClientSide {
 public:
  virtual ~ClientSide() = default;
  virtual bool http11() const = 0;
  // Whether an answer begun now may be followed by another request; else it must say so.
  virtual bool keeps_alive() = 0;
  // Returns when the client took the bytes. Throws boost::system::system_error when it is gone or
  // took nothing for `limit`.
  virtual Task<void> write(std::span<const asio::const_buffer> buffers,
                           std::chrono::milliseconds limit) = 0;
  // From here on read() gives what the client sends, whatever it is; 0 bytes at its end.
  virtual void upgrade() = 0;
  virtual Task<size_t> read(std::span<char> into) = 0;
  // Calls `ring` once, on this loop, unless set again or stilled within `limit` (about 100 ms
  // exact). Costs no timer.
  virtual void set_alarm(std::chrono::milliseconds limit) = 0;
  virtual void still_alarm() = 0;
  virtual void on_alarm(std::function<void()> ring) = 0;
};

struct RelayBody {
  // Whether another request may follow on the connection. An Error before the first byte was
  // written is answered; after that every failure cuts the connection.
  std::function<Task<bool>(ClientSide&)> serve;
};

}  // namespace sandgate::http
