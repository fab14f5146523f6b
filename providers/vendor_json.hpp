#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/core/error.hpp"
#include "gateway/core/json_reader.hpp"
#include "providers/sandbox.hpp"

// Readers for vendors' JSON documents, in which any field may be missing or have another type.
namespace sandgate {

// Names of the labels, tags or metadata that hold the sandbox's id and the id of the gateway that
// created it (several gateways may share an account).
inline constexpr const char* kSandboxTag = "sandgate_id";
inline constexpr const char* kInstallationTag = "sandgate_installation";

// Writes both labels into those of a create, and reads them from a vendor's document.
void put_tags(Json& labels, std::string_view sandbox_id, std::string_view installation);
void read_tags(const Json& labels, BackendSandbox& sandbox);

// Parses what another server sent. Returns a discarded value, which is neither object nor array,
// for text that is not JSON, is nested more than 64 levels deep (copying that could exhaust the
// stack), or holds more than about 500 000 values.
Json parse_answer(std::string_view text);
// The same for one record of a stream or message of a socket, which may hold about 32 000 values,
// twice as many as a request: an upstream may send one after the other, and the event loop parses
// them.
Json parse_record(std::string_view text);

// Error(unavailable) for an answer that does not match the provider's API.
Error unexpected_answer(std::string_view provider);

// Calls `read` and turns a JSON exception into unexpected_answer(provider).
template <class F>
auto reading(std::string_view provider, F read) {
  try {
    return read();
  } catch (const Json::exception&) {
    throw unexpected_answer(provider);
  }
}

// Returns the field, or null if it is missing or the document is not an object.
Json field_of(const Json& document, std::string_view name);
// Returns the field's text, or "" if it is missing or not a string.
std::string text_of(const Json& document, std::string_view name);
// Returns the field's number times 1000, or 0 if it is not a plausible size.
int64_t milli_of(const Json& document, std::string_view name);
// Returns the field's time, in RFC 3339 or as milliseconds since 1970; empty if it is neither.
std::optional<Time> time_of(const Json& document, std::string_view name);
// Returns the field's exit status, which shell::exit_of interprets; empty if it is no whole number.
std::optional<int> exit_status_of(const Json& document, std::string_view name);
// Returns the field's array; throws unexpected_answer(provider) if there is none.
const Json& list_of(std::string_view provider, const Json& document, const char* name);

// Whether the API key may be sent to a URL from a vendor's answer: https always, http only if the
// control plane uses http too.
bool may_have_key(std::string_view url, std::string_view api_url);

// Returns `value` in units of `unit`, rounded up.
constexpr int64_t in_units(int64_t value, int64_t unit) { return (value + unit - 1) / unit; }

}  // namespace sandgate
