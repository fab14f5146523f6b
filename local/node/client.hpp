#pragma once
#include <functional>
#include <memory>
#include <string>

#include "gateway/core/async.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate {

// Asks a node. A call has a connection to itself, which ends with it when it is cancelled; after an
// answer a few are kept for later calls. A node that is away fails a call at once with
// Error(unavailable). Thread-safe.
class NodeClient {
 public:
  explicit NodeClient(std::string socket_path);
  ~NodeClient();

  // The result of a verb. `progress` hears the lines of long ones. Throws the node's Error.
  Task<Json> call(std::string verb, Json params = Json::object(),
                  std::function<void(std::string_view)> progress = nullptr) const;

 private:
  class Idle;

  std::string path_;
  std::shared_ptr<Idle> idle_;
};

}  // namespace sandgate
