#include "gateway/core/error.hpp"

#include <array>

namespace sandgate {
namespace {

struct Name {
  ErrorCode code;
  std::string_view text;
};

constexpr std::array kNames{
    Name{ErrorCode::invalid, "invalid"},
    Name{ErrorCode::unauthenticated, "unauthenticated"},
    Name{ErrorCode::budget_exceeded, "budget_exceeded"},
    Name{ErrorCode::forbidden, "forbidden"},
    Name{ErrorCode::not_found, "not_found"},
    Name{ErrorCode::conflict, "conflict"},
    Name{ErrorCode::too_large, "too_large"},
    Name{ErrorCode::unsupported, "unsupported"},
    Name{ErrorCode::quota_exceeded, "quota_exceeded"},
    Name{ErrorCode::rate_limited, "rate_limited"},
    Name{ErrorCode::internal, "internal"},
    Name{ErrorCode::no_capacity, "no_capacity"},
    Name{ErrorCode::unavailable, "unavailable"},
    Name{ErrorCode::timeout, "timeout"},
};

// Escapes NULs as JSON does, because an exception's text ends at the first NUL.
std::string without_nul(std::string_view text) {
  std::string shown;
  for (const char c : text)
    if (c == '\0')
      shown += "\\u0000";
    else
      shown += c;
  return shown;
}

}  // namespace

std::string_view to_string(ErrorCode code) {
  for (const Name& name : kNames)
    if (name.code == code) return name.text;
  return "internal";
}

std::optional<ErrorCode> error_code_from(std::string_view text) {
  for (const Name& name : kNames)
    if (name.text == text) return name.code;
  return std::nullopt;
}

Error Error::invalid(std::string path, std::string message) {
  const std::string detail = without_nul(path.empty() ? message : path + ": " + message);
  return Error(ErrorCode::invalid, detail, {{std::move(path), std::move(message)}});
}

Error Error::not_found(std::string_view kind, std::string_view id) {
  if (id.empty()) return Error(ErrorCode::not_found, "no such " + std::string(kind));
  return Error(ErrorCode::not_found, "no " + std::string(kind) + " '" + std::string(id) + "'");
}

Error credentials_refused(const std::string& provider) {
  Error error(ErrorCode::unavailable, provider + " refuses our credentials");
  error.provider = provider;
  error.details = {{"credentials", "refused"}};
  return error;
}

bool are_credentials_refused(const Error& error) {
  const auto found = error.details.find("credentials");
  return found != error.details.end() && *found == "refused";
}

Error agent_missing(const std::string& message) {
  Error error(ErrorCode::not_found, message);
  error.details = {{"missing", "agent"}};
  return error;
}

bool is_agent_missing(const Error& error) {
  const auto found = error.details.find("missing");
  return found != error.details.end() && *found == "agent";
}

}  // namespace sandgate
