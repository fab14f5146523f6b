#include "gateway/core/error.hpp"

#include "gateway/core/words.hpp"

namespace sandgate {
namespace {

constexpr Words kCodeWords({
    Word{ErrorCode::invalid, "invalid"},
    Word{ErrorCode::unauthenticated, "unauthenticated"},
    Word{ErrorCode::budget_exceeded, "budget_exceeded"},
    Word{ErrorCode::forbidden, "forbidden"},
    Word{ErrorCode::not_found, "not_found"},
    Word{ErrorCode::conflict, "conflict"},
    Word{ErrorCode::too_large, "too_large"},
    Word{ErrorCode::unsupported, "unsupported"},
    Word{ErrorCode::quota_exceeded, "quota_exceeded"},
    Word{ErrorCode::rate_limited, "rate_limited"},
    Word{ErrorCode::internal, "internal"},
    Word{ErrorCode::no_capacity, "no_capacity"},
    Word{ErrorCode::unavailable, "unavailable"},
    Word{ErrorCode::timeout, "timeout"},
});

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

std::string_view to_string(ErrorCode code) { return kCodeWords.of(code); }

std::optional<ErrorCode> error_code_from(std::string_view text) { return kCodeWords.find(text); }

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

Error never_sent(Error error) {
  if (!error.details.is_object()) error.details = nlohmann::json::object();
  error.details[kNeverSent] = true;
  return error;
}

bool was_never_sent(const Error& error) { return error.details.contains(kNeverSent); }

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
