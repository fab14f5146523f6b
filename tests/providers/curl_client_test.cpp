#include "providers/transport/curl_client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <future>

#include <boost/asio/ssl.hpp>

#include "gateway/core/files.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/core/trace.hpp"
#include "tests/providers/scripted_server.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

using asio::ip::tcp;
using SteadyClock = std::chrono::steady_clock;

HttpCall local(std::string url) {
  HttpCall call;
  call.url = std::move(url);
  call.allow_private = true;
  return call;
}

Task<void> hang(tcp::socket& socket) {
  co_await ScriptedServer::head(socket);
  co_await sleep_for(std::chrono::hours(1));
}

Task<void> answer_ok(tcp::socket& socket) {
  for (;;) {
    co_await ScriptedServer::head(socket);
    co_await ScriptedServer::say(
        socket,
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Made\r\nX-A: b\r\nContent-Length: 2\r\n\r\nhi");
  }
}

// More than any buffer holds, and how much of it was taken.
Task<void> flood(tcp::socket& socket) {
  co_await ScriptedServer::head(socket);
  co_await ScriptedServer::say(socket, "HTTP/1.1 200 OK\r\n\r\n");
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 64; ++i) co_await ScriptedServer::say(socket, piece);
}

// Answers with the number of body bytes of a chunked upload.
Task<void> count_upload(tcp::socket& socket) {
  std::string text = co_await ScriptedServer::head(socket);
  text.erase(0, text.find("\r\n\r\n") + 4);
  while (!text.ends_with("0\r\n\r\n")) {
    std::string more(1 << 16, '\0');
    const size_t count = co_await socket.async_read_some(asio::buffer(more), asio::use_awaitable);
    text.append(more, 0, count);
  }
  const auto size = std::to_string(std::count(text.begin(), text.end(), 'u'));
  const std::string reply =
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(size.size()) +
      "\r\n\r\n" + size;
  co_await ScriptedServer::say(socket, reply);
}

// A certificate for this machine, and what serves with it and agrees to these key exchanges only.
struct TlsHost {
  TlsHost() {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=x "
        "-addext subjectAltName=IP:127.0.0.1 -keyout " +
        directory.path() + "/key.pem -out " + directory.path() + "/cert.pem 2>/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);
  }
  Task<void> serve(tcp::socket& socket, const char* groups) const {
    asio::ssl::context context(asio::ssl::context::tls_server);
    context.use_certificate_chain_file(directory.path() + "/cert.pem");
    context.use_private_key_file(directory.path() + "/key.pem", asio::ssl::context::pem);
    EXPECT_EQ(SSL_CTX_set1_groups_list(context.native_handle(), groups), 1) << groups;
    asio::ssl::stream<tcp::socket&> stream(socket, context);
    co_await stream.async_handshake(asio::ssl::stream_base::server, asio::use_awaitable);
    std::string request(4096, '\0');
    co_await stream.async_read_some(asio::buffer(request), asio::use_awaitable);
    const std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    co_await asio::async_write(stream, asio::buffer(answer), asio::use_awaitable);
  }
  // The code of the error that a call to it ends in.
  std::optional<ErrorCode> refusal(const char* groups) const {
    ScriptedServer server([this, groups](tcp::socket& socket) { return serve(socket, groups); });
    HttpCall call = local("https" + server.url().substr(4));
    TlsIdentity identity;
    identity.authorities = read_text_file(directory.path() + "/cert.pem").value();
    call.tls = std::make_shared<const TlsIdentity>(std::move(identity));
    CurlClient client;
    return code_of(client.call(std::move(call)));
  }

  const TempDirectory directory;
};

// One in a field of a hostile server's choice takes up to 1.2 s, in the thread of all calls.
TEST(CurlClient, AgreesToNoKeyExchangeOverAFiniteField) {
  const TlsHost host;
  for (const char* groups : {"X25519", "P-256"})
    EXPECT_EQ(host.refusal(groups), std::nullopt) << groups;
  for (const char* groups : {"ffdhe2048", "ffdhe8192"})
    EXPECT_EQ(host.refusal(groups), ErrorCode::unavailable) << groups;
}

TEST(CurlClient, AFieldIsNeverMoreThanOne) {
  CurlClient client;
  HttpCall call = local("http://127.0.0.1:1/");
  call.headers = {{"X-Session", "a\r\nAuthorization: b"}};
  try {
    run(client.call(call));
    FAIL() << "it was sent";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("header"), std::string::npos) << error.what();
  }
}

TEST(CurlClient, AReplyHasStatusFieldsAndBody) {
  ScriptedServer server(answer_ok);
  CurlClient client;
  const auto reply = run(client.call(local(server.url())));
  EXPECT_EQ(reply.status, 201);
  EXPECT_EQ(find_field(reply.headers, "x-a"), "b");
  EXPECT_EQ(reply.body, "hi");
}

// Answers with the request's head.
Task<void> repeat_head(tcp::socket& socket) {
  const std::string heard = co_await ScriptedServer::head(socket);
  const std::string reply =
      "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(heard.size()) + "\r\n\r\n" + heard;
  co_await ScriptedServer::say(socket, reply);
}

TEST(CurlClient, AHeadThatBreaksOffWithinALineIsAFailure) {
  for (const std::string_view begin :
       {"HTTP/1.1 200 OK\r\nContent-", "HTTP/1.1 200 OK\r\n", "HTTP"}) {
    ScriptedServer server([begin](tcp::socket& socket) -> Task<void> {
      co_await ScriptedServer::head(socket);
      co_await ScriptedServer::say(socket, std::string(begin));
    });
    CurlClient client;
    EXPECT_EQ(code_of(within(std::chrono::seconds(20), client.call(local(server.url())))),
              ErrorCode::unavailable)
        << begin;
    EXPECT_EQ(code_of(within(std::chrono::seconds(20), client.stream(local(server.url())))),
              ErrorCode::unavailable)
        << begin;
  }
}

TEST(CurlClient, TheTraceOfARequestGoesAlong) {
  ScriptedServer server(repeat_head);
  CurlClient client;
  const auto trace = std::make_shared<const Trace>(Trace{"00-parent", "a=1"});
  const std::string with = run(with_trace(trace, client.call(local(server.url())))).body;
  EXPECT_NE(with.find("traceparent: 00-parent\r\n"), std::string::npos) << with;
  EXPECT_NE(with.find("tracestate: a=1\r\n"), std::string::npos) << with;
  const std::string without = run(client.call(local(server.url()))).body;
  EXPECT_EQ(without.find("trace"), std::string::npos) << without;
}

// What a tenant's call hears whose upstream has these addresses.
std::string refusal_of(const std::string& url, const std::vector<std::string>& addresses) {
  HostAddresses found;
  for (const auto& address : addresses) found.push_back(asio::ip::make_address(address));
  CurlClient client(AsyncResolver([found](const std::string&) { return found; }, {}));
  HttpCall call;
  call.url = url;
  try {
    run(client.call(std::move(call)));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(CurlClient, ATenantsCallGoesWhereItsNameWasFoundToBe) {
  for (const std::string url :
       {"http://Upstream.example/", "https://upstream.example:8443/a?b", "http://upstream.example.",
        "http://upstream.example.:81/", "http://a:b@upstream%2eexample/", "http://localhost/"})
    for (const std::vector<std::string>& addresses :
         {std::vector<std::string>{"127.0.0.1"}, {"::1"}, {"fe80::1%1", "10.0.0.1", "fc00::1"}})
      EXPECT_EQ(refusal_of(url, addresses), "the backend's address is not a public one")
          << url << " " << addresses.front();
  EXPECT_EQ(refusal_of("http://[::1]/", {}), "the backend's address is not a public one");
  EXPECT_EQ(refusal_of("http://127.1/", {}), "the backend's address is not a public one");
}

TEST(CurlClient, ATenantsNameIsLookedUpNowhereElse) {
  const std::string unknown = "the backend could not be reached: Couldn't resolve host name";
  EXPECT_EQ(refusal_of("http://localhost/", {}), unknown);
  EXPECT_EQ(refusal_of("http://upstream.example/", {"fe80::1%1"}), unknown);
}

TEST(CurlClient, ANameThatIsNeverAnsweredHoldsNoCall) {
  std::promise<void> released;
  const std::shared_future<void> release = released.get_future().share();
  // Its threads may outlive the client.
  const auto asked = std::make_shared<std::atomic<int>>(0);
  CurlClient client(AsyncResolver(
      [asked, release](const std::string&) {
        ++*asked;
        release.wait();
        return HostAddresses();
      },
      {.of_one_domain = 2}));
  HttpCall call;
  call.deadline = std::chrono::milliseconds(20);
  for (int i = 0; i < 5; ++i) {
    call.url = "http://" + std::to_string(i) + ".silent.example/";
    const auto outcome = run(attempt(within(std::chrono::seconds(20), client.call(call))));
    ASSERT_TRUE(std::holds_alternative<Error>(outcome));
    EXPECT_EQ(std::get<Error>(outcome).code, ErrorCode::timeout);
    EXPECT_TRUE(was_never_sent(std::get<Error>(outcome)));
    EXPECT_EQ(code_of(within(std::chrono::seconds(20), client.stream(call))), ErrorCode::timeout);
  }
  EXPECT_LE(*asked, 2);
  released.set_value();
}

TEST(CurlClient, AStreamThatCannotStartSaysSoAtOnce) {
  CurlClient client;
  const auto begin = SteadyClock::now();
  try {
    run(client.stream(local("http://127.0.0.1:1")));
    FAIL() << "nothing listens there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::unavailable);
  }
  EXPECT_LT(SteadyClock::now() - begin, std::chrono::seconds(5));
}

TEST(CurlClient, ACancelledRaceReturnsAtOnce) {
  ScriptedServer server(hang);
  CurlClient client;
  const auto begin = SteadyClock::now();
  auto race = [&]() -> Task<bool> {
    auto reply =
        co_await with_timeout(std::chrono::milliseconds(50), client.call(local(server.url())));
    co_return reply.has_value();
  };
  EXPECT_FALSE(run(race()));
  EXPECT_LT(SteadyClock::now() - begin, std::chrono::seconds(5)) << "the call has ten";
}

TEST(CurlClient, DeadlinesEndCallsAndStreamHeads) {
  ScriptedServer server(hang);
  CurlClient client;
  HttpCall call = local(server.url());
  call.deadline = std::chrono::milliseconds(100);
  EXPECT_EQ(code_of(client.call(call)), ErrorCode::timeout);
  try {
    run(client.stream(call));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::timeout);
  }
}

class Repeated : public ByteSource {
 public:
  explicit Repeated(size_t left, bool breaks = false) : left_(left), breaks_(breaks) {}
  Task<size_t> read(std::span<char> into) override {
    if (left_ == 0 && breaks_) throw Error(ErrorCode::conflict, "broken");
    const size_t count = std::min(into.size(), left_);
    std::fill_n(into.begin(), count, 'u');
    left_ -= count;
    co_return count;
  }

 private:
  size_t left_;
  bool breaks_;
};

TEST(CurlClient, AFailureDoesNotWaitForItsDeadline) {
  CurlClient client;
  HttpCall call = local("http://127.0.0.1:1");
  call.deadline = std::chrono::minutes(10);
  const auto begin = SteadyClock::now();
  EXPECT_EQ(code_of(client.call(call)), ErrorCode::unavailable);
  EXPECT_THROW(run(client.stream(call)), Error);
  Repeated body(1 << 20);
  call.method = "PUT";
  call.upload = &body;
  EXPECT_EQ(code_of(client.call(call)), ErrorCode::unavailable);
  EXPECT_LT(SteadyClock::now() - begin, std::chrono::seconds(10));
}

TEST(CurlClient, RefusedConnectionsAndPrivateAddressesAreUnavailable) {
  CurlClient client;
  EXPECT_EQ(code_of(client.call(local("http://127.0.0.1:1"))), ErrorCode::unavailable);
  ScriptedServer server(answer_ok);
  HttpCall tenant = local(server.url());
  tenant.allow_private = false;
  EXPECT_EQ(code_of(client.call(tenant)), ErrorCode::unavailable);
  // Nor through a connection that an operator's call left in the pool.
  run(client.call(local(server.url())));
  EXPECT_EQ(code_of(client.call(tenant)), ErrorCode::unavailable);
}

TEST(CurlClient, AStreamThatCannotBeginSaysSoBeforeItsDeadline) {
  CurlClient client;
  HttpCall call = local("http://127.0.0.1:1");
  call.deadline = std::chrono::minutes(10);
  const auto begin = SteadyClock::now();
  try {
    run(client.stream(call));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::unavailable);
  }
  EXPECT_LT(SteadyClock::now() - begin, std::chrono::seconds(10));
}

TEST(CurlClient, LargeRepliesAreRefusedByCallAndPulledByStream) {
  ScriptedServer server(flood);
  CurlClient client;
  EXPECT_EQ(code_of(client.call(local(server.url()))), ErrorCode::unavailable);
  auto pull = [&]() -> Task<size_t> {
    auto stream = co_await client.stream(local(server.url()));
    std::vector<char> piece(300'000);
    size_t total = 0;
    for (;;) {
      const size_t count = co_await stream->read(piece);
      if (count == 0) co_return total;
      total += count;
    }
  };
  EXPECT_EQ(run(pull()), size_t{64} << 20);
}

TEST(CurlClient, UploadsArePumpedAndTheirFailureIsTheCalls) {
  ScriptedServer server(count_upload);
  CurlClient client;
  Repeated whole(5 << 20), broken(100, true);
  HttpCall call = local(server.url());
  call.method = "PUT";
  call.upload = &whole;
  EXPECT_EQ(run(client.call(call)).body, std::to_string(5 << 20));
  call.upload = &broken;
  EXPECT_EQ(code_of(client.call(call)), ErrorCode::conflict);
}

TEST(CurlClient, ManyCallsRunTogether) {
  ScriptedServer server(answer_ok);
  CurlClient client;
  asio::thread_pool pool(4);
  std::atomic<int> good = 0;
  for (int i = 0; i < 50; ++i) {
    auto work = [&]() -> Task<void> {
      auto outcome = co_await attempt(client.call(local(server.url())));
      good += std::holds_alternative<HttpReply>(outcome);
    };
    asio::co_spawn(asio::make_strand(pool), work, asio::detached);
  }
  pool.join();
  EXPECT_EQ(good, 50);
}

}  // namespace
}  // namespace sandgate::test
