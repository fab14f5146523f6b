#include "gateway/compat/e2b/rpc.hpp"

#include <gtest/gtest.h>

#include "gateway/compat/e2b/error_format.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/http/problem.hpp"
#include "providers/transport/connect_stream.hpp"
#include "tests/support/run.hpp"

namespace sandgate::compat::e2b {
namespace {

http::Request request_of(std::string type, std::string body) {
  http::Request request;
  request.headers.add("Content-Type", std::move(type));
  request.body = std::move(body);
  return request;
}

std::optional<ErrorCode> refusal_of(const http::Request& request) {
  try {
    message_of(request);
  } catch (const Error& error) {
    return error.code;
  }
  return std::nullopt;
}

const std::string kStream = "application/connect+json", kUnary = "application/json";

TEST(Rpc, TakesOneMessage) {
  const Json message{{"a", 1}};
  EXPECT_EQ(message_of(request_of(kStream, connect::envelope(message))), message);
  EXPECT_EQ(message_of(request_of(kUnary + "; charset=utf-8", R"({"a":1})")), message);
}

TEST(Rpc, RefusesHostileEnvelopes) {
  const std::string good = connect::envelope({{"a", 1}});
  std::string compressed = good, strange = good, longer = good, endless = good;
  compressed[0] = 1;
  strange[0] = 4;
  longer += "x";
  endless[1] = '\xff';
  EXPECT_EQ(refusal_of(request_of(kStream, compressed)), ErrorCode::unsupported);
  for (const std::string& body : {strange, longer, endless, good.substr(0, 4),
                                  good.substr(0, good.size() - 1), std::string(), good + good})
    EXPECT_EQ(refusal_of(request_of(kStream, body)), ErrorCode::invalid);
  EXPECT_EQ(refusal_of(request_of(kUnary, "[]")), ErrorCode::invalid);
  EXPECT_EQ(refusal_of(request_of(kUnary, "{")), ErrorCode::invalid);
  EXPECT_EQ(refusal_of(request_of("application/proto", "")), ErrorCode::unsupported);
  auto encoded = request_of(kStream, good);
  encoded.headers.add("Connect-Content-Encoding", "gzip");
  EXPECT_EQ(refusal_of(encoded), ErrorCode::unsupported);
}

TEST(Rpc, ReadsTimes) {
  http::Request request;
  EXPECT_EQ(timeout_of(request).count(), 0);
  request.headers.add("Connect-Timeout-Ms", "60000");
  request.headers.add("Keepalive-Ping-Interval", "50");
  // The answer has to be there before a client that counts as well gives up.
  EXPECT_EQ(timeout_of(request).count(), 59'950);
  EXPECT_EQ(ping_interval_of(request).count(), 50'000);
  http::Request brief, wrong;
  brief.headers.add("Connect-Timeout-Ms", "1");
  EXPECT_EQ(timeout_of(brief).count(), 1);
  wrong.headers.add("Connect-Timeout-Ms", "99999999999");
  EXPECT_THROW(timeout_of(wrong), Error);
}

// Tells its bytes in the given pieces, then waits until it is given up.
class Pieces : public ByteSource {
 public:
  explicit Pieces(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}
  Task<size_t> read(std::span<char> into) override {
    if (next_ == pieces_.size()) co_await sleep_for(std::chrono::seconds(60));
    const std::string& piece = pieces_.at(next_++);
    co_return piece.copy(into.data(), into.size());
  }

 private:
  std::vector<std::string> pieces_;
  size_t next_ = 0;
};

// The code of what the second of two messages ends with.
std::optional<ErrorCode> end_of_second(std::vector<std::string> pieces,
                                       http::BodyMemoryQuota& room) {
  Pieces body(std::move(pieces));
  auto reading = [&]() -> Task<void> {
    MessageSource messages(body, room, "tn", {std::chrono::milliseconds(50), 100 << 20});
    const auto first = co_await messages.next();
    EXPECT_EQ(*first, (Json{{"a", 1}}));
    const auto second = co_await messages.next();
    EXPECT_EQ(second->at("b").get<std::string>().size(), 100'000u);
  };
  const auto outcome = test::run(attempt(reading()));
  const auto* error = std::get_if<Error>(&outcome);
  return error ? std::optional(error->code) : std::nullopt;
}

TEST(Rpc, LongMessagesTakeRoomAndKeepAPace) {
  const std::string small = connect::envelope({{"a", 1}}),
                    large = connect::envelope({{"b", std::string(100'000, 'x')}});
  const std::string begin = large.substr(0, 60'000), middle = large.substr(60'000, 30'000),
                    end = large.substr(90'000);
  http::BodyMemoryQuota wide, narrow({.per_tenant = 80'000});
  EXPECT_EQ(end_of_second({small, begin, middle, end}, wide), std::nullopt);
  EXPECT_EQ(end_of_second({small + begin, middle, end}, narrow), ErrorCode::rate_limited);
  EXPECT_EQ(end_of_second({small, begin, middle}, wide), ErrorCode::timeout);
  http::BodyMemoryQuota::Reservation others(narrow, "tn");
  EXPECT_TRUE(others.try_grow_to(80'000)) << "what was taken has been returned";
}

http::Response problem_of(const Error& error) { return http::problem(error, "rq"); }

TEST(ErrorFormat, IsItsOwnForEachKindOfCall) {
  const Error error(ErrorCode::not_found, "no file");
  const auto text = [](const http::Response& r) { return std::get<std::string>(r.body); };
  const auto control = format_error(problem_of(error), ErrorFormat::control, "");
  EXPECT_EQ(control.status, 404);
  EXPECT_EQ(Json::parse(text(control)), Json::parse(R"({"code":404,"message":"no file"})"));
  const auto unary = format_error(problem_of(error), ErrorFormat::unary, "");
  EXPECT_EQ(unary.status, 404);
  EXPECT_EQ(Json::parse(text(unary)), Json::parse(R"({"code":"not_found","message":"no file"})"));
  const auto stream = format_error(problem_of(error), ErrorFormat::stream, "");
  EXPECT_EQ(stream.status, 200);
  EXPECT_EQ(text(stream)[0], '\2');
  const auto full =
      format_error(problem_of(Error(ErrorCode::quota_exceeded, "disk")), ErrorFormat::file, "");
  EXPECT_EQ(full.status, 507);
}

TEST(ErrorFormat, TellsEachFieldOnceAndAsClientsCallIt) {
  const auto told = [](const Error& error, ErrorFormat format) {
    const auto answer = format_error(problem_of(error), format, "");
    return Json::parse(std::get<std::string>(answer.body)).at("message").get<std::string>();
  };
  const Error agents(ErrorCode::invalid, "is a directory", {{"/path", "is a directory"}});
  EXPECT_EQ(told(agents, ErrorFormat::unary), "/path: is a directory");
  const Error doubled(ErrorCode::invalid, "/path: is a directory", {{"/path", "is a directory"}});
  EXPECT_EQ(told(doubled, ErrorFormat::file), "/path: is a directory");
  const Error two(ErrorCode::invalid, "/ttl_seconds: is long",
                  {{"/ttl_seconds", "is long"}, {"/env/A B", "is no name"}});
  EXPECT_EQ(told(two, ErrorFormat::control), "/timeout: is long; /envVars/A B: is no name");
  EXPECT_EQ(told(Error::invalid("/cursor", "is none"), ErrorFormat::control),
            "/nextToken: is none");
  EXPECT_EQ(told(Error::invalid("/env/A", "is long"), ErrorFormat::unary), "/envs/A: is long");
  EXPECT_EQ(told(Error::invalid("/environment", "x"), ErrorFormat::control), "/environment: x");
  EXPECT_EQ(told(Error::invalid("", "no body"), ErrorFormat::control), "no body");
}

TEST(ErrorFormat, SaysThatASandboxIsGoneByAStatusOfItsOwn) {
  Error error(ErrorCode::conflict, "the sandbox is stopped");
  error.details = {{"state", "stopped"}};
  for (const ErrorFormat format : {ErrorFormat::file, ErrorFormat::unary, ErrorFormat::stream}) {
    const auto answer = format_error(problem_of(error), format, "sb1");
    EXPECT_EQ(answer.status, 502);
    const Json told = Json::parse(std::get<std::string>(answer.body));
    EXPECT_EQ(told["sandboxId"], "sb1");
    EXPECT_EQ(told["message"], "The sandbox was not found");
  }
  EXPECT_EQ(format_error(problem_of(error), ErrorFormat::control, "").status, 409);
}

}  // namespace
}  // namespace sandgate::compat::e2b
