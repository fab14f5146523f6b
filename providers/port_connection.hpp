#pragma once
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

namespace sandgate {

// A stream socket of the kernel's, owned.
class StreamSocket {
 public:
  StreamSocket() = default;
  explicit StreamSocket(int descriptor) : descriptor_(descriptor) {}
  StreamSocket(StreamSocket&& other) noexcept : descriptor_(other.release()) {}
  StreamSocket& operator=(StreamSocket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~StreamSocket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_ = -1;
};

// A new connection to what listens on a port inside a sandbox. The other end is hostile: it may
// hold the same socket, so every call on it must say that it does not block.
// A backend that can reach ports by HTTP only says what every request needs on top.
struct PortConnection {
  StreamSocket socket;  // connected, or connecting
  std::string tls_host;  // not empty: TLS must be begun, with this name
  std::string path_prefix;  // to put before a request's path, "/p/sb…/8080"
  std::vector<std::pair<std::string, std::string>> headers;  // to add to every request
};

}  // namespace sandgate
