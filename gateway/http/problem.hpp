#pragma once
#include <exception>
#include <string>
#include <string_view>

#include "gateway/http/method.hpp"
#include "gateway/http/response.hpp"

namespace sandgate::http {

// The one table from codes to HTTP statuses.
int status_of(ErrorCode code);
// "Not Found" for 404; "Unknown" for what is not in RFC 9110.
std::string_view reason_of(int status);

// The application/problem+json document of an error, also where it travels inside a stream.
Json problem_document(const Error& error, int status, std::string_view request_id);
// The answer an error becomes, with Retry-After and WWW-Authenticate where they belong.
Response problem(const Error& error, std::string_view request_id);
// The same under a status of its own, for refusals that HTTP itself names (405, 431).
Response problem(const Error& error, int status, std::string_view request_id);
// 405: the path exists, the method does not.
Response wrong_method(const std::vector<Method>& allowed, std::string_view request_id);

// What any failure is at the edge: an Error as it is; everything else internal, its type and
// text logged and not shown.
Error as_error(std::exception_ptr failure, std::string_view request_id);

}  // namespace sandgate::http
