#pragma once
#include <sys/types.h>

#include <string>

#include "providers/sandgate/sandgate.hpp"
#include "providers/transport/curl_client.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {

// The program itself with a home of its own: embedded PostgreSQL, a node, one tenant and a profile.
// Ended with the object, its sandboxes too. Needs root.
class RunningGateway {
 public:
  RunningGateway();  // throws std::runtime_error when it does not come up
  ~RunningGateway();

  SandgateSettings settings() const;  // of a deployment that points at it

 private:
  void launch();
  void wait_until_ready();
  void add_tenant();
  Json send(std::string method, std::string path, std::string key, const Json& body);

  TempDirectory home_;
  Secret admin_, key_;
  std::string url_;
  CurlClient http_;
  pid_t pid_ = -1;
};

}  // namespace sandgate::test
