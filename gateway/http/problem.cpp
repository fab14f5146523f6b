#include "gateway/http/problem.hpp"

#include <typeinfo>

#include "gateway/core/log.hpp"

namespace sandgate::http {
namespace {

constexpr size_t kMaxFields = 100;  // a reader needs no more

// Every rate_limited answer says when to come back, also one of a backend that did not say.
constexpr std::chrono::milliseconds kSomeWait{1000};

std::optional<std::chrono::milliseconds> wait_of(const Error& error) {
  if (error.retry_after || error.code != ErrorCode::rate_limited) return error.retry_after;
  return kSomeWait;
}

int64_t seconds_up(std::chrono::milliseconds wait) {
  return std::max<int64_t>(1, (wait.count() + 999) / 1000);
}

}  // namespace

int status_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return 400;
    case ErrorCode::unauthenticated:
      return 401;
    case ErrorCode::budget_exceeded:
      return 402;
    case ErrorCode::forbidden:
      return 403;
    case ErrorCode::not_found:
      return 404;
    case ErrorCode::conflict:
      return 409;
    case ErrorCode::too_large:
      return 413;
    case ErrorCode::unsupported:
      return 422;
    case ErrorCode::quota_exceeded:
      return 429;
    case ErrorCode::rate_limited:
      return 429;
    case ErrorCode::internal:
      return 500;
    case ErrorCode::no_capacity:
      return 503;
    case ErrorCode::unavailable:
      return 503;
    case ErrorCode::timeout:
      return 504;
  }
  return 500;
}

Json problem_document(const Error& error, int status, std::string_view request_id) {
  // Details go first, so that they cannot override members of the API contract.
  Json document = error.details.is_object() ? error.details : Json::object();
  document.erase(kNeverSent);
  document["type"] = "urn:sandgate:problem:" + std::string(to_string(error.code));
  document["title"] = reason_of(status);
  document["status"] = status;
  document["code"] = to_string(error.code);
  document["detail"] = error.what();
  document["request_id"] = request_id;
  if (const auto wait = wait_of(error)) document["retry_after_ms"] = wait->count();
  if (!error.provider.empty()) document["provider"] = error.provider;
  if (!error.fields.empty()) {
    Json& fields = document["fields"] = Json::array();
    for (const FieldProblem& field :
         std::span(error.fields).first(std::min(error.fields.size(), kMaxFields)))
      fields.push_back({{"path", field.path}, {"message", field.message}});
  }
  return document;
}

Response problem(const Error& error, int status, std::string_view request_id) {
  Response response = Response::json(status, problem_document(error, status, request_id));
  response.content_type = "application/problem+json";
  response.code = error.code;
  if (const auto wait = wait_of(error))
    response.headers.emplace_back("Retry-After", std::to_string(seconds_up(*wait)));
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"sandgate\"");
  return response;
}

Response problem(const Error& error, std::string_view request_id) {
  return problem(error, status_of(error.code), request_id);
}

Response method_not_allowed(const std::vector<Method>& allowed, std::string_view request_id) {
  std::string list;
  for (const Method method : allowed)
    list.append(list.empty() ? "" : ", ").append(to_string(method));
  const Error error(ErrorCode::invalid, "this path answers only " + list);
  Response response = problem(error, 405, request_id);
  response.headers.emplace_back("Allow", list);
  return response;
}

Error as_error(std::exception_ptr failure, std::string_view request_id) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return error;
  } catch (const std::exception& other) {
    log::error(
        "handler failed",
        {{"request_id", request_id}, {"type", typeid(other).name()}, {"reason", other.what()}});
  } catch (...) {
    log::error("handler failed", {{"request_id", request_id}, {"type", "not an exception class"}});
  }
  return Error(ErrorCode::internal,
               "something went wrong internally; the log has this request's id");
}

}  // namespace sandgate::http
