#include "gateway/core/network_rule.hpp"

#include <algorithm>

#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>

#include "gateway/core/field_text.hpp"
#include "gateway/core/number_text.hpp"

namespace sandgate {
namespace {

namespace ip = boost::asio::ip;

constexpr size_t kMaxName = 253, kMaxLabel = 63;

bool is_label(std::string_view label) {
  if (label.empty() || label.size() > kMaxLabel) return false;
  if (label.front() == '-' || label.back() == '-') return false;
  return std::all_of(label.begin(), label.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

std::optional<unsigned> length_from(std::string_view text, unsigned bits) {
  const auto length = number_from<unsigned>(text);
  const bool padded = text.size() > 1 && text.front() == '0';
  return !length || *length > bits || padded ? std::nullopt : length;
}

// Parses "address" or "address/length" into a block with its host bits cleared.
template <class Network, class Make>
std::optional<Network> block_from(std::string_view text, unsigned bits, Make make_address) {
  const size_t slash = std::min(text.find('/'), text.size());
  boost::system::error_code failure;
  const auto address = make_address(std::string(text.substr(0, slash)), failure);
  const auto length =
      slash == text.size() ? std::optional(bits) : length_from(text.substr(slash + 1), bits);
  if (failure || !length) return std::nullopt;
  return Network(address, static_cast<unsigned short>(*length)).canonical();
}

std::optional<ip::network_v4> v4_from(std::string_view text) {
  return block_from<ip::network_v4>(text, 32, [](const std::string& address, auto& failure) {
    return ip::make_address_v4(address, failure);
  });
}

std::optional<ip::network_v6> v6_from(std::string_view text) {
  // A zone ("%eth0") names an interface of one machine, which has no meaning in a rule.
  if (text.find('%') != std::string_view::npos) return std::nullopt;
  return block_from<ip::network_v6>(text, 128, [](const std::string& address, auto& failure) {
    return ip::make_address_v6(address, failure);
  });
}

template <class Network>
std::string block_text(const Network& block) {
  return block.is_host() ? block.address().to_string() : block.to_string();
}

std::optional<std::string> host_from(std::string_view text) {
  if (text.starts_with('[')) {
    if (!text.ends_with(']')) return std::nullopt;
    const auto block = v6_from(text.substr(1, text.size() - 2));
    if (!block) return std::nullopt;
    return "[" + block_text(*block) + "]";
  }
  if (const auto block = v4_from(text)) return block_text(*block);
  if (!text.starts_with("*.")) return host_name_from(text);
  const auto rest = host_name_from(text.substr(2));
  if (!rest) return std::nullopt;
  return "*." + *rest;
}

template <class Network>
bool holds(const Network& wide, const Network& narrow) {
  return wide == narrow || narrow.is_subnet_of(wide);
}

}  // namespace

std::optional<std::string> host_name_from(std::string_view text) {
  if (text.empty() || text.size() > kMaxName) return std::nullopt;
  const std::string name = ascii_lower(text);
  std::string_view rest = name;
  std::string_view label;
  for (;;) {
    const size_t dot = rest.find('.');
    label = rest.substr(0, dot);
    if (!is_label(label)) return std::nullopt;
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  // Resolvers read "1.2.3" or "0x7f.1" as addresses, so they are not names.
  if (label.front() >= '0' && label.front() <= '9') return std::nullopt;
  return name;
}

std::optional<NetworkRule> network_rule_from(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto host = host_from(text.substr(0, colon));
  const auto port = port_number_from(text.substr(colon + 1));
  if (!host || !port) return std::nullopt;
  return NetworkRule{*host, *port};
}

std::string to_string(const NetworkRule& rule) {
  return rule.host + ":" + std::to_string(rule.port);
}

bool covers(const NetworkRule& wide, const NetworkRule& narrow) {
  if (wide.port != narrow.port) return false;
  if (wide.host == narrow.host) return true;
  if (wide.host.starts_with("*.")) {
    const size_t dot = narrow.host.find('.');
    const bool name = host_name_from(narrow.host).has_value();
    return name && dot != std::string::npos && narrow.host.substr(dot) == wide.host.substr(1);
  }
  if (const auto outer = v4_from(wide.host)) {
    const auto inner = v4_from(narrow.host);
    return inner && holds(*outer, *inner);
  }
  if (!wide.host.starts_with('[') || !narrow.host.starts_with('[')) return false;
  const auto inside = [](const std::string& host) {
    return std::string_view(host).substr(1, host.size() - 2);
  };
  const auto outer = v6_from(inside(wide.host)), inner = v6_from(inside(narrow.host));
  return outer && inner && holds(*outer, *inner);
}

}  // namespace sandgate
