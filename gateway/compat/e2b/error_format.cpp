#include "gateway/compat/e2b/error_format.hpp"

#include "gateway/core/json_reader.hpp"
#include "providers/transport/connect_stream.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr std::string_view kStreamAnswer = "application/connect+json";
// Clients recognise an ended sandbox by this message and by the status.
constexpr std::string_view kGone = "The sandbox was not found";
constexpr int kBadGateway = 502, kNoSpace = 507;

struct ConnectCode {
  std::string_view name;
  int status;
};

ConnectCode connect_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
    case ErrorCode::too_large:
      return {"invalid_argument", 400};
    case ErrorCode::unauthenticated:
      return {"unauthenticated", 401};
    case ErrorCode::forbidden:
      return {"permission_denied", 403};
    case ErrorCode::not_found:
      return {"not_found", 404};
    case ErrorCode::conflict:
      return {"failed_precondition", 400};
    case ErrorCode::unsupported:
      return {"unimplemented", 501};
    case ErrorCode::budget_exceeded:
    case ErrorCode::quota_exceeded:
    case ErrorCode::rate_limited:
      return {"resource_exhausted", 429};
    case ErrorCode::no_capacity:
    case ErrorCode::unavailable:
      return {"unavailable", 503};
    case ErrorCode::timeout:
      return {"deadline_exceeded", 504};
    case ErrorCode::internal:
      break;
  }
  return {"internal", 500};
}

bool is_gone(const Error& error) {
  return error.code == ErrorCode::conflict && error.details.contains("state");
}

// Names a field of a v1 request as clients do: "/env/A" is "/envVars/A".
std::string client_path(const std::string& path, ErrorFormat format) {
  const std::string_view env = format == ErrorFormat::control ? "/envVars" : "/envs";
  const std::pair<std::string_view, std::string_view> names[] = {
      {"/ttl_seconds", "/timeout"},
      {"/cursor", "/nextToken"},
      {"/profile", "/templateID"},
      {"/env", env},
  };
  for (const auto& [ours, theirs] : names)
    if (path == ours || path.starts_with(std::string(ours) + "/"))
      return std::string(theirs) + path.substr(ours.size());
  return path;
}

// Clients show only the message, so it tells the problems of all fields.
std::string text_of(const Json& problem, ErrorFormat format) {
  std::string list;
  for (const Json& field : problem.value("fields", Json::array())) {
    const std::string path = client_path(field.value("path", ""), format);
    list += (list.empty() ? "" : "; ") + (path.empty() ? "" : path + ": ");
    list += field.value("message", "");
  }
  return list.empty() ? problem.value("detail", "") : list;
}

Error error_of(const Json& problem, ErrorFormat format) {
  const auto code = error_code_from(problem.value("code", ""));
  Error error(code.value_or(ErrorCode::internal), text_of(problem, format));
  if (problem.contains("state")) error.details = {{"state", problem["state"]}};
  return error;
}

void put(http::Response& answer, int status, const Json& document) {
  answer.status = status;
  answer.content_type = "application/json";
  answer.body = document.dump();
}

}  // namespace

ErrorFormat error_format_of(const http::Request& request) {
  const bool call = request.path.starts_with("/process.Process/") ||
                    request.path.starts_with("/filesystem.Filesystem/");
  if (!call) return ErrorFormat::file;
  const std::string_view type = request.headers.find("Content-Type").value_or("");
  return type.starts_with(kStreamAnswer) ? ErrorFormat::stream : ErrorFormat::unary;
}

Json connect_error(const Error& error) {
  if (is_gone(error)) return {{"code", "unavailable"}, {"message", kGone}};
  return {{"code", connect_code(error.code).name}, {"message", error.what()}};
}

http::Response format_error(http::Response answer, ErrorFormat format, std::string_view sandbox) {
  const auto* text = std::get_if<std::string>(&answer.body);
  if (answer.content_type != "application/problem+json" || !text) return answer;
  const Error error = error_of(Json::parse(*text), format);
  if (format == ErrorFormat::control) {
    put(answer, answer.status, {{"code", answer.status}, {"message", error.what()}});
  } else if (is_gone(error)) {
    put(answer, kBadGateway, {{"code", kBadGateway}, {"message", kGone}, {"sandboxId", sandbox}});
  } else if (format == ErrorFormat::file) {
    const int status = error.code == ErrorCode::quota_exceeded ? kNoSpace : answer.status;
    put(answer, status, {{"code", status}, {"message", error.what()}});
  } else if (format == ErrorFormat::unary) {
    put(answer, connect_code(error.code).status, connect_error(error));
  } else {
    answer.status = 200;
    answer.content_type = kStreamAnswer;
    const Json end{{"error", connect_error(error)}};
    answer.body = connect::envelope(end, /*last=*/true);
  }
  return answer;
}

}  // namespace sandgate::compat::e2b
