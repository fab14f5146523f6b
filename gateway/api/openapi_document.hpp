#pragma once
#include <string>
#include <string_view>

namespace sandgate::api {

// docs/openapi.yaml as it was at build time.
std::string_view embedded_openapi();

// Converts that document to JSON text, with its members in order. Plain scalars become numbers,
// booleans or null by YAML's core schema; quoted scalars stay text. Throws Error(internal) for
// invalid YAML. For YAML of users see registry/yaml.hpp.
std::string openapi_json(const std::string& yaml);

}  // namespace sandgate::api
