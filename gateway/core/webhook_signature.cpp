#include "gateway/core/webhook_signature.hpp"

#include "gateway/core/crypto.hpp"

namespace sandgate {

std::string webhook_signature(const Secret& secret, Time at, std::string_view body) {
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch();
  const std::string time = std::to_string(seconds.count());
  return "t=" + time + ",v1=" + hmac_sha256_hex(secret, time + "." + std::string(body));
}

}  // namespace sandgate
