// Profile documents come from tenants. Whatever the bytes: an Error, or a profile that reads back
// from its own rendering and that any create body tightens or is refused by.
#include <cstdlib>

#include "registry/effective_request.hpp"
#include "registry/profile_parse.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace sandgate;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const Profile profile = parse_profile_yaml(text, "fuzzed");
    if (to_json(parse_profile(to_json(profile))) != to_json(profile)) std::abort();
    merge(profile, Json::object());
  } catch (const Error& error) {
    if (error.code != ErrorCode::invalid && error.code != ErrorCode::too_large) std::abort();
  }
  return 0;
}
