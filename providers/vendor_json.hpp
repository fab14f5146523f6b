#pragma once
#include <string>
#include <string_view>

#include "gateway/core/error.hpp"
#include "gateway/core/json_reader.hpp"
#include "providers/sandbox.hpp"

// Reading the documents of other people's APIs, of which every field may be missing or another.
namespace sandgate {

// Where sandboxes carry our id with a vendor that knows labels, tags or metadata; and whose they
// are, since several gateways may share an account.
inline constexpr const char* kSandboxTag = "sandgate_id";
inline constexpr const char* kInstallationTag = "sandgate_installation";

// Puts both among the labels of a create, and reads them back.
void put_tags(Json& labels, std::string_view sandbox_id, std::string_view installation);
void read_tags(const Json& labels, BackendSandbox& sandbox);

// Error(unavailable): an answer that does not have the form of the provider's API.
Error not_its_api(std::string_view provider);

// Calls `read`, whose accessors may throw; whatever they throw is not_its_api(provider).
template <class F>
auto reading(std::string_view provider, F read) {
  try {
    return read();
  } catch (const Json::exception&) {
    throw not_its_api(provider);
  }
}

// The field; null when it is not there or the document no object.
Json field_of(const Json& document, std::string_view name);
// The field's text; "" when it is not there or no text, or the document no object.
std::string text_of(const Json& document, std::string_view name);
// Thousandths of the field's number; 0 when there is none that could be a size.
int64_t milli_of(const Json& document, std::string_view name);
// The field's list of the document; not_its_api when there is none.
const Json& list_of(std::string_view provider, const Json& document, const char* name);

// Whether our key may go to an address that an answer of the vendor names: never in the clear,
// unless the control plane itself is.
bool may_have_key(std::string_view url, std::string_view api_url);

// `value` in whole units, rounded up.
constexpr int64_t in_units(int64_t value, int64_t unit) { return (value + unit - 1) / unit; }

}  // namespace sandgate
