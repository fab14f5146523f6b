#pragma once
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace sandgate {

// The closed set of failure codes; each tells what the caller can do next. http/problem maps them
// to HTTP statuses.
enum class ErrorCode {
  invalid,
  unauthenticated,
  budget_exceeded,
  forbidden,
  not_found,
  conflict,
  too_large,
  unsupported,
  quota_exceeded,
  rate_limited,
  internal,
  no_capacity,
  unavailable,
  timeout,
};

std::string_view to_string(ErrorCode code);
// Returns empty if the text is not a code.
std::optional<ErrorCode> error_code_from(std::string_view text);

// A problem with one field. `path` is a JSON Pointer into the body ("/network/allow/0").
struct FieldProblem {
  std::string path;
  std::string message;
};

// The one exception type of the project. The message is safe to show to a client: it holds no
// vendor body and no secret. Handled at the HTTP edge, and wherever a failure leaves a choice (see
// attempt()).
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code(code) {}
  Error(ErrorCode code, const std::string& message, std::vector<FieldProblem> fields)
      : std::runtime_error(message), code(code), fields(std::move(fields)) {}

  static Error invalid(std::string path, std::string message);
  static Error not_found(std::string_view kind, std::string_view id);

  ErrorCode code;
  std::vector<FieldProblem> fields;
  std::string provider;  // empty: the error is Sandgate's own
  std::optional<std::chrono::milliseconds> retry_after;
  nlohmann::json details;  // additional members of the problem document, or null
};

// Returns Error(unavailable) that says `provider` refuses our credentials (401, 403), with the
// detail {"credentials":"refused"}. An immediate retry would be refused as well.
Error credentials_refused(const std::string& provider);
bool are_credentials_refused(const Error& error);

// Marks the failure of a request to a backend that was never sent, since there was no connection:
// it had no effect, whatever its code. Clients are not told (http/problem).
Error never_sent(Error error);
bool was_never_sent(const Error& error);
inline constexpr const char* kNeverSent = "never_sent";  // the detail that is the mark

// Returns Error(not_found) for a way into a sandbox that is not there, with the detail
// {"missing":"agent"}: it may have died so lately that its backend does not know.
Error agent_missing(const std::string& message);
bool is_agent_missing(const Error& error);

}  // namespace sandgate
