#pragma once
#include <functional>
#include <string>
#include <vector>

#include "gateway/core/async.hpp"
#include "gateway/core/json_reader.hpp"

namespace sandgate {

// Asks a node; every call is a connection of its own and ends with it when cancelled. A node
// that is away fails a call at once with Error(unavailable).
class NodeClient {
 public:
  explicit NodeClient(std::string socket_path) : path_(std::move(socket_path)) {}

  // The result of a verb. `progress` hears the lines of long ones. Throws the node's Error.
  Task<Json> call(std::string verb, Json params = Json::object(),
                  std::function<void(std::string_view)> progress = nullptr) const;

 private:
  std::string path_;
};

}  // namespace sandgate
