#include "gateway/ports/port_address.hpp"

#include <algorithm>

#include "gateway/core/field_text.hpp"
#include "gateway/core/number_text.hpp"
#include "gateway/http/target.hpp"

namespace sandgate::ports {
namespace {

constexpr std::string_view kPathForm = "/p/";

std::string_view without_port(std::string_view host) {
  const size_t colon = host.rfind(':');
  // A bracketed IPv6 address contains colons, but is never a name here.
  return colon == std::string_view::npos || host.ends_with(']') ? host : host.substr(0, colon);
}

bool came_by_proxy(const http::Request& request) {
  for (const char* told : {"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"})
    if (request.headers.find(told)) return true;
  return false;
}

std::optional<PortAddress> named(std::string_view id, std::string_view port) {
  const auto sandbox = SandboxId::parse(ascii_lower(id));
  const auto number = port_number_from(port);
  if (!sandbox || !number) return std::nullopt;
  PortAddress address;
  address.sandbox = *sandbox;
  address.port = *number;
  return address;
}

}  // namespace

std::string_view label_below(const http::Request& request, std::string_view domain) {
  if (domain.empty()) return {};
  std::string_view host = without_port(request.headers.find("Host").value_or(""));
  if (host.ends_with('.')) host.remove_suffix(1);  // absolute form of the same name
  const std::string_view below = without_port(domain);
  if (host.size() <= below.size() + 1) return {};
  const std::string_view end = host.substr(host.size() - below.size());
  if (!equal_ignoring_case(end, below) || host[host.size() - below.size() - 1] != '.') return {};
  return host.substr(0, host.size() - below.size() - 1);
}

bool is_for_port(const http::Request& request, std::string_view domain) {
  return request.target.starts_with(kPathForm) || !label_below(request, domain).empty() ||
         (!request.target.starts_with('/') && request.target != "*" &&
          http::split_target(request.target).path.starts_with(kPathForm));
}

std::optional<PortAddress> port_address(const http::Request& request, std::string_view domain) {
  const http::Target target = http::split_target(request.target);
  std::optional<PortAddress> address;
  if (const std::string_view label = label_below(request, domain); !label.empty()) {
    const size_t dash = label.find('-');
    if (dash == std::string_view::npos) return std::nullopt;
    // Some clients append "-" and an id of their own to a sandbox's id, which contains none.
    const std::string_view id = label.substr(dash + 1);
    address = named(id.substr(0, id.find('-')), label.substr(0, dash));
    if (address) address->path = target.path == "*" ? "/" : target.path;
  } else {
    const std::string_view rest = target.path.substr(kPathForm.size());
    const size_t slash = std::min(rest.find('/'), rest.size());
    const size_t end = std::min(rest.find('/', slash + 1), rest.size());
    if (slash == rest.size()) return std::nullopt;
    address = named(rest.substr(0, slash), rest.substr(slash + 1, end - slash - 1));
    if (!address) return std::nullopt;
    address->prefix = port_prefix(address->sandbox, std::to_string(address->port));
    address->path = rest.substr(end);
  }
  if (address) address->query = target.query;
  return address;
}

std::string reached_domain(const http::Request& request, std::string_view domain) {
  std::string reached(domain);
  if (domain.find(':') != std::string_view::npos || came_by_proxy(request)) return reached;
  const std::string_view host = request.headers.find("Host").value_or("");
  const std::string_view port = host.substr(without_port(host).size());
  if (!port.empty() && port_number_from(port.substr(1))) reached += port;
  return reached;
}

std::string port_host(const SandboxId& sandbox, std::string_view port, std::string_view domain) {
  return std::string(port) + "-" + sandbox.value + "." + std::string(domain);
}

std::string port_prefix(const SandboxId& sandbox, std::string_view port) {
  return std::string(kPathForm) + sandbox.value + "/" + std::string(port);
}

}  // namespace sandgate::ports
