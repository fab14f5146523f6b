#pragma once
#include <exception>
#include <string>
#include <string_view>

#include "gateway/http/method.hpp"
#include "gateway/http/response.hpp"

namespace sandgate::http {

// The one mapping from error codes to HTTP statuses.
int status_of(ErrorCode code);
// "Not Found" for 404; "Unknown" for statuses without a standard phrase.
std::string_view reason_of(int status);

// The application/problem+json document of an error, also used inside streams.
Json problem_document(const Error& error, int status, std::string_view request_id);
// The answer for an error, with Retry-After and WWW-Authenticate where they apply.
Response problem(const Error& error, std::string_view request_id);
// Like above with an explicit status, for HTTP's own refusals (405, 431).
Response problem(const Error& error, int status, std::string_view request_id);
// 405: the path exists, but not with this method.
Response method_not_allowed(const std::vector<Method>& allowed, std::string_view request_id);

// Converts any exception at the HTTP edge: an Error is returned as it is. Everything else becomes
// internal; its type and text are logged and not shown.
Error as_error(std::exception_ptr failure, std::string_view request_id);

}  // namespace sandgate::http
