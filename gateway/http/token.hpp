#pragma once
#include <string_view>

// The small grammar of header values (RFC 9110).
namespace sandgate::http {

bool equal_ignoring_case(std::string_view a, std::string_view b);
// Whether a comma-separated list ("keep-alive, Upgrade") has the token, in any case.
bool has_token(std::string_view list, std::string_view token);
// Without leading and trailing spaces and tabs.
std::string_view trimmed(std::string_view text);
// Whether this is what a Host field may say (RFC 9110, 7.2): a name or an address, with a port or
// without; nothing at all for a target that has no authority.
bool is_host(std::string_view text);
// Only characters '!' to '~'.
bool is_visible_ascii(std::string_view text);
// W3C trace context, version 00: "00-<32 hex>-<16 hex>-<2 hex>", ids not all zero.
bool is_traceparent(std::string_view text);
// What goes on in a tracestate header: 512 bytes of printable ASCII at most.
bool is_tracestate(std::string_view text);

}  // namespace sandgate::http
