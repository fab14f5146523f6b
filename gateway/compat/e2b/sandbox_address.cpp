#include "gateway/compat/e2b/sandbox_address.hpp"

#include <algorithm>

#include "gateway/core/field_text.hpp"
#include "gateway/core/number_text.hpp"
#include "gateway/ports/port_address.hpp"

namespace sandgate::compat::e2b {

std::optional<SandboxAddress> address_by_host(const http::Request& request,
                                              std::string_view domain) {
  if (ports::label_below(request, domain).empty()) return std::nullopt;
  const auto address = ports::port_address(request, domain);
  if (!address) return std::nullopt;
  return SandboxAddress{address->sandbox, address->port};
}

bool is_control_host(const http::Request& request, std::string_view domain) {
  return equal_ignoring_case(ports::label_below(request, domain), "api");
}

void drop_client_id(http::Request& request) {
  const auto id = request.params.find("id");
  if (id == request.params.end()) return;
  std::string& text = id->second;
  text.resize(std::min(text.find('-'), text.size()));
}

std::optional<SandboxAddress> sandbox_address(const http::Request& request,
                                              std::string_view domain) {
  if (auto address = address_by_host(request, domain)) return address;
  const auto id = SandboxId::parse(request.headers.find(kSandboxHeader).value_or(""));
  if (!id) return std::nullopt;
  const std::string_view text = request.headers.find("E2b-Sandbox-Port").value_or("");
  if (text.empty()) return SandboxAddress{*id};
  const auto port = number_from<uint16_t>(text);
  if (!port) return std::nullopt;
  return SandboxAddress{*id, *port};
}

}  // namespace sandgate::compat::e2b
