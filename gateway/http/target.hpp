#pragma once
#include <optional>
#include <string_view>

namespace sandgate::http {

// The two halves of a request target as sent, still encoded. An absolute form
// ("http://host/path?query") is read like its path.
struct Target {
  std::string_view path;  // begins with '/', or is "*"
  std::string_view query;
};

// Throws Error(invalid) when the target is neither.
Target split_target(std::string_view target);
// "host:port" of an absolute form, whatever is there; empty for other targets.
std::optional<std::string_view> authority_of(std::string_view target);

}  // namespace sandgate::http
