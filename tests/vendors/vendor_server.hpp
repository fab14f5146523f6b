#pragma once
#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/script_server.hpp"

namespace sandgate::test {

// A fake vendor (tests/vendors/<script>) in a process of its own, which ends with this object.
class VendorServer {
 public:
  // `specs`: the vendor's folder under $SANDGATE_VENDOR_SPECS; with it, every request is checked
  // against the vendor's own API description. Throws std::runtime_error when it does not start.
  VendorServer(const std::string& script, const std::string& specs);

  const std::string& url() const { return script_.url(); }
  bool checks_requests() const { return checks_; }

  // {"match": "POST /sandboxes$", "kind": "status", "status": 500, "headers": {}, "times": 1}
  void fault(const nlohmann::json& fault);
  void clear_faults();
  // {"boxes": […], "created": n, "asked": ["POST /…", …], "violations": […]}
  nlohmann::json state();

 private:
  nlohmann::json control(const std::string& method, const std::string& path,
                         const std::string& body);

  const std::string specs_;
  ScriptServer script_;
  const bool checks_;
};

}  // namespace sandgate::test
