#pragma once
#include <sys/types.h>

#include <string>

#include "gateway/core/json_reader.hpp"
#include "providers/transport/curl_client.hpp"

namespace sandgate::test {

// fake_receiver.py as a child, for as long as this lives.
class Receiver {
 public:
  Receiver();
  ~Receiver();
  Receiver(const Receiver&) = delete;
  Receiver& operator=(const Receiver&) = delete;

  const std::string& url() const { return url_; }
  Json state();
  void fault(const Json& fault);

 private:
  Json call(const std::string& method, const std::string& path, const std::string& body);

  pid_t pid_ = -1;
  int input_ = -1;
  std::string url_;
  CurlClient http_;
};

}  // namespace sandgate::test
