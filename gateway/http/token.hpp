#pragma once
#include <string_view>

// Parsing of small parts of header values (RFC 9110).
namespace sandgate::http {

// Whether a comma-separated list ("keep-alive, Upgrade") contains the token, ignoring case.
bool has_token(std::string_view list, std::string_view token);
// Whether the text is a valid Host field (RFC 9110, 7.2): a name or address with an optional port,
// or empty for targets without an authority.
bool is_host(std::string_view text);
// W3C trace context version 00: "00-<32 hex>-<16 hex>-<2 hex>", the ids not all zero.
bool is_traceparent(std::string_view text);
// Whether a tracestate header may be forwarded: at most 512 bytes of printable ASCII.
bool is_tracestate(std::string_view text);

}  // namespace sandgate::http
