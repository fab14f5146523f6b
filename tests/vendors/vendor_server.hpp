#pragma once
#include <sys/types.h>

#include <string>

#include <nlohmann/json.hpp>

namespace sandgate::test {

// A fake vendor (tests/vendors/<script>) in a process of its own, which ends with this object.
class VendorServer {
 public:
  // `specs`: the vendor's folder under $SANDGATE_VENDOR_SPECS; with it, every request is checked
  // against the vendor's own API description. Throws std::runtime_error when it does not start.
  VendorServer(const std::string& script, const std::string& specs);
  ~VendorServer();
  VendorServer(const VendorServer&) = delete;
  VendorServer& operator=(const VendorServer&) = delete;

  const std::string& url() const { return url_; }
  bool checks_requests() const { return checks_; }

  // {"match": "POST /sandboxes$", "kind": "status", "status": 500, "headers": {}, "times": 1}
  void fault(const nlohmann::json& fault);
  void clear_faults();
  // {"boxes": […], "created": n, "asked": ["POST /…", …], "violations": […]}
  nlohmann::json state();

 private:
  nlohmann::json control(const std::string& method, const std::string& path,
                         const std::string& body);

  pid_t pid_ = -1;
  int stdin_ = -1;
  std::string url_;
  bool checks_ = false;
};

}  // namespace sandgate::test
