#pragma once
#include <optional>
#include <string_view>

namespace sandgate::http {

// Path and query of a request target, still encoded. An absolute form ("http://host/path?query")
// yields its path and query.
struct Target {
  std::string_view path;  // begins with '/', or is "*"
  std::string_view query;
};

// Throws Error(invalid) if the target is neither a path, "*" nor an absolute form, or has a
// fragment.
Target split_target(std::string_view target);
// The authority ("host:port") of an absolute form, unchecked; empty for other targets.
std::optional<std::string_view> authority_of(std::string_view target);

}  // namespace sandgate::http
