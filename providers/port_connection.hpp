#pragma once
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

namespace sandgate {

// Owns the descriptor of a stream socket.
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

// A new connection to a port inside a sandbox. The sandbox may hold the same socket and change its
// mode, so every call on the socket must be explicitly non-blocking. For a backend that reaches
// ports by HTTP only, the other members say what each request needs.
struct PortConnection {
  StreamSocket socket;  // connected or connecting
  std::string tls_host;  // if not empty, TLS must be started with this name
  std::string path_prefix;  // prepended to a request's path, "/p/sb…/8080"
  std::vector<std::pair<std::string, std::string>> headers;  // added to every request
};

}  // namespace sandgate
