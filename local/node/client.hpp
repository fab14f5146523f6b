#pragma once
#include <memory>
#include <string>

#include "gateway/core/async.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate {

// Client of a node's socket. Each call uses a connection exclusively; up to 8 idle connections are
// kept for reuse. Cancelling a call closes its connection. When the node is not running, a call
// fails at once with Error(unavailable). Thread-safe.
class NodeClient {
 public:
  explicit NodeClient(std::string socket_path);
  ~NodeClient();

  // Returns the result of a verb. Throws the node's Error. No timeout.
  Task<Json> call(std::string verb, Json params = Json::object()) const;

 private:
  class Idle;

  std::string path_;
  std::shared_ptr<Idle> idle_;
};

}  // namespace sandgate
