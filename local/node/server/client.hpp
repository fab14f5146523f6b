#pragma once
#include <memory>
#include <string>

#include "gateway/core/async.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate {

// Client of a node's socket. Each call uses a connection exclusively; up to 8 idle connections are
// kept for reuse. Cancelling a call closes its connection. Thread-safe.
//
// When the node is not running, a call fails at once with Error(unavailable). A node that was
// reached before may be starting again: for two seconds since a call first missed it, calls wait.
class NodeClient {
 public:
  explicit NodeClient(std::string socket_path);
  ~NodeClient();

  // Returns the result of a verb. Throws the node's Error. No timeout.
  Task<Json> call(std::string verb, Json params = Json::object()) const;
  // A count that grows with each call that misses the node, or that loses it before its answer.
  size_t misses() const;

 private:
  class Idle;
  class Presence;
  struct Question;
  Task<void> dial(asio::local::stream_protocol::socket& socket) const;

  std::string path_;
  std::unique_ptr<Idle> idle_;
  std::unique_ptr<Presence> presence_;
};

}  // namespace sandgate
