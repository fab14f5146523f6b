#include "registry/setting_addresses.hpp"

namespace sandgate {

Json addresses_in(const Json& settings) {
  Json addresses = Json::object();
  for (const auto& [name, value] : settings.items()) {
    if (value.is_null() || (name != "domain" && !name.ends_with("url"))) continue;
    Json& address = addresses[name] = value;
    if (!address.is_string()) continue;
    auto& text = address.get_ref<std::string&>();
    while (text.ends_with('/')) text.pop_back();
  }
  return addresses;
}

}  // namespace sandgate
