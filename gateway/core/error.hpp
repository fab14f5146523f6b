#pragma once
#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace sandgate {

// Closed: each code names what the caller can do next. The HTTP status of each is in http/problem.
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
// Empty when the text is not a code.
std::optional<ErrorCode> error_code_from(std::string_view text);

// What is wrong with one field; `path` is a JSON Pointer into the body ("/network/allow/0").
struct FieldProblem {
  std::string path;
  std::string message;
};

// The one exception type. The message is safe to show to a client: no vendor body, no secret.
// Caught in two places: the HTTP edge, and attempt() where a failure is a choice to make.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code(code) {}
  Error(ErrorCode code, const std::string& message, std::vector<FieldProblem> fields)
      : std::runtime_error(message), code(code), fields(std::move(fields)) {}

  static Error invalid(std::string path, std::string message);
  static Error not_found(std::string_view kind, std::string_view id);

  ErrorCode code;
  std::vector<FieldProblem> fields;
  std::string provider;  // empty: Sandgate itself
  std::optional<std::chrono::milliseconds> retry_after;
  nlohmann::json details;  // further members of the problem document, or null
};

// An Error(unavailable) that says `provider` refuses our credentials (401, 403), with the detail
// {"credentials":"refused"}: the next try would be refused as well, so nobody should make it soon.
Error credentials_refused(const std::string& provider);
bool are_credentials_refused(const Error& error);

}  // namespace sandgate
