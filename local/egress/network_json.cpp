#include "local/egress/network_json.hpp"

namespace sandgate::egress {

Json network_json(const NetworkPolicy& network) {
  return {{"default", kNetworkDefaultWords.of(network.fallback)}, {"allow", network.allow}};
}

NetworkPolicy network_from(const Json& json) {
  NetworkPolicy network;
  if (json.at("default") == "allow") network.fallback = NetworkDefault::allow;
  json.at("allow").get_to(network.allow);
  return network;
}

}  // namespace sandgate::egress
