#include "gateway/core/host_addresses.hpp"

#include <netdb.h>

#include <cstring>
#include <memory>

namespace sandgate {
namespace {

bool says_there_are_none(int failure) {
  return failure == EAI_NONAME || failure == EAI_NODATA || failure == EAI_ADDRFAMILY;
}

}  // namespace

std::optional<HostAddresses> host_addresses(const std::string& host) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int failure = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  HostAddresses found;
  if (says_there_are_none(failure)) return found;
  if (failure != 0) return std::nullopt;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    asio::ip::tcp::endpoint endpoint;
    if (one->ai_addrlen > endpoint.capacity()) continue;
    std::memcpy(endpoint.data(), one->ai_addr, one->ai_addrlen);
    endpoint.resize(one->ai_addrlen);
    found.push_back(endpoint.address());
  }
  return found;
}

}  // namespace sandgate
