#include "gateway/http/problem.hpp"

#include <gtest/gtest.h>

namespace sandgate::http {
namespace {

std::optional<std::string> header(const Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return std::nullopt;
}

TEST(Problem, CarriesWhatTheErrorKnows) {
  Error error(ErrorCode::rate_limited, "slow down",
              {FieldProblem{"/network/allow/0", "is no host"}});
  error.provider = "local";
  error.retry_after = std::chrono::milliseconds(1200);
  error.details = {{"candidates", 3}, {"status", "not mine to say"}};
  error = never_sent(std::move(error));  // of one request of several, for placement to judge
  const Response response = problem(error, "rq1");
  EXPECT_EQ(response.status, 429);
  EXPECT_EQ(response.content_type, "application/problem+json");
  EXPECT_EQ(header(response, "Retry-After"), "2");
  const Json document = Json::parse(std::get<std::string>(response.body));
  EXPECT_EQ(document, (Json{{"type", "urn:sandgate:problem:rate_limited"},
                            {"title", "Too Many Requests"},
                            {"status", 429},
                            {"code", "rate_limited"},
                            {"detail", "slow down"},
                            {"request_id", "rq1"},
                            {"retry_after_ms", 1200},
                            {"provider", "local"},
                            {"fields", {{{"path", "/network/allow/0"}, {"message", "is no host"}}}},
                            {"candidates", 3}}));
}

TEST(Problem, SaysWhenToComeBackEvenIfNobodyToldIt) {
  const Response response = problem(Error(ErrorCode::rate_limited, "slow down"), "rq1");
  EXPECT_EQ(header(response, "Retry-After"), "1");
  EXPECT_EQ(Json::parse(std::get<std::string>(response.body))["retry_after_ms"], 1000);
  EXPECT_FALSE(header(problem(Error(ErrorCode::quota_exceeded, "full"), "rq1"), "Retry-After"));
}

TEST(Problem, NamesNoMoreFieldsThanAReaderWants) {
  std::vector<FieldProblem> fields;
  for (int i = 0; i < 16'000; ++i) fields.push_back({"/" + std::to_string(i), "is odd"});
  const Response response = problem(Error(ErrorCode::invalid, "odd", fields), "rq1");
  const Json document = Json::parse(std::get<std::string>(response.body));
  ASSERT_EQ(document["fields"].size(), 100u);
  EXPECT_EQ(document["fields"][99]["path"], "/99");
}

TEST(Problem, HasAStatusForEveryCode) {
  const std::pair<ErrorCode, int> statuses[] = {
      {ErrorCode::invalid, 400},         {ErrorCode::unauthenticated, 401},
      {ErrorCode::budget_exceeded, 402}, {ErrorCode::forbidden, 403},
      {ErrorCode::not_found, 404},       {ErrorCode::conflict, 409},
      {ErrorCode::too_large, 413},       {ErrorCode::unsupported, 422},
      {ErrorCode::quota_exceeded, 429},  {ErrorCode::rate_limited, 429},
      {ErrorCode::internal, 500},        {ErrorCode::no_capacity, 503},
      {ErrorCode::unavailable, 503},     {ErrorCode::timeout, 504}};
  for (const auto& [code, status] : statuses) EXPECT_EQ(status_of(code), status);
}

TEST(Problem, TellsWhoMayAskAndHow) {
  EXPECT_TRUE(header(problem(Error(ErrorCode::unauthenticated, "key?"), "rq"), "WWW-Authenticate"));
  const Response response = method_not_allowed({Method::get, Method::head}, "rq");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(header(response, "Allow"), "GET, HEAD");
}

TEST(Problem, HidesWhatIsNotAnError) {
  const auto failure = std::make_exception_ptr(std::runtime_error("password=secret"));
  const Error error = as_error(failure, "rq");
  EXPECT_EQ(error.code, ErrorCode::internal);
  EXPECT_EQ(std::string(error.what()).find("secret"), std::string::npos);
}

TEST(Problem, SurvivesTextThatIsNotUtf8) {
  const Response response = problem(Error(ErrorCode::invalid, "bad \xff name"), "rq");
  const Json document = Json::parse(std::get<std::string>(response.body));
  EXPECT_EQ(document["code"], "invalid");
}

}  // namespace
}  // namespace sandgate::http
