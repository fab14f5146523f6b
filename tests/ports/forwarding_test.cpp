#include <gtest/gtest.h>

#include "gateway/core/crypto.hpp"
#include "gateway/ports/app_pool.hpp"
#include "gateway/ports/forwarded_request.hpp"
#include "gateway/ports/forwarded_response.hpp"
#include "gateway/ports/port_token.hpp"

namespace sandgate::ports::test {
namespace {

constexpr char kId[] = "sbaaaaaaaaaaaaaaaaaaaaaaaa";

http::Request request_for(std::string target, std::string host = "gateway:8080") {
  http::Request request;
  request.target = std::move(target);
  request.headers.add("Host", std::move(host));
  request.remote_address = "10.1.2.3";
  request.id = "rqx";
  return request;
}

TEST(PortToken, IsTakenOutOfQueriesAndCookies) {
  EXPECT_EQ(query_without_token("sandgate_token=x"), "");
  EXPECT_EQ(query_without_token("a=1&sandgate_token=x&b=%2&&c"), "a=1&b=%2&&c");
  EXPECT_EQ(query_without_token("xsandgate_token=1"), "xsandgate_token=1");
  EXPECT_EQ(cookies_without_token("sandgate_token=x"), "");
  EXPECT_EQ(cookies_without_token("a=1; sandgate_token=x;b=2"), "a=1; b=2");
  EXPECT_NE(make_token().reveal(), make_token().reveal());
  EXPECT_EQ(make_token().reveal().size(), 44u);
}

bool opens(const http::Request& request, const std::string& token) {
  const auto address = port_address(request, "");
  const OpenPort port{.port = 80, .access = Access::token, .token_hash = sha256_hex(token)};
  try {
    check_token(port, presented_tokens(request, *address));
    return true;
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::unauthenticated);
    return false;
  }
}

// A program behind another port may set cookies of the same name for a longer path.
TEST(PortToken, IsFoundBehindOthersOfItsName) {
  const std::string path = std::string("/p/") + kId + "/80/";
  http::Request request = request_for(path);
  request.headers.add("Cookie", "sandgate_token=evil; a=1; sandgate_token=; sandgate_token=good");
  EXPECT_TRUE(opens(request, "evil"));
  EXPECT_TRUE(opens(request, "good"));
  EXPECT_FALSE(opens(request, "1"));
  request.headers.add("Cookie", "sandgate_token=more");
  EXPECT_TRUE(opens(request, "more"));
  http::Request many = request_for(path);
  std::string cookies;
  for (size_t i = 0; i < kMaxTokens; ++i) cookies += "sandgate_token=x;";
  many.headers.add("Cookie", cookies + "sandgate_token=good");
  EXPECT_FALSE(opens(many, "good")) << "so many nobody tries";
  http::Request asked = request_for(path + "?sandgate_token=bad");
  asked.headers.add("Cookie", "sandgate_token=good");
  EXPECT_FALSE(opens(asked, "good")) << "what is named in the address is meant";
}

TEST(ForwardedRequest, MakesTheHeadAnew) {
  http::Request request = request_for(std::string("/p/") + kId + "/80/x?sandgate_token=t&q=1");
  request.method = http::Method::post;
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"Connection", "close, X-Gone"},
           {"X-Gone", "1"},
           {"Transfer-Encoding", "chunked"},
           {"Content-Length", "999"},
           {"X-Sandgate-Token", "t"},
           {"Authorization", "Bearer sg_" + std::string(40, 'a')},
           {"Authorization", "Bearer own"},
           {"X-Forwarded-For", "1.1.1.1"},
           {"Evil", "a\r\nInjected: 1"}})
    request.headers.add(name, value);
  const auto address = port_address(request, "");
  const std::vector<std::pair<std::string, std::string>> extra{{"Host", "inner"}, {"X-Inner", "i"}};
  const BodyFraming body{.length = 5};
  const std::string head = forwarded_request_head({request, *address, "/up", extra, body});
  EXPECT_EQ(
      head,
      "POST /up/x?q=1 HTTP/1.1\r\nAuthorization: Bearer own\r\n"
      "Evil: a  Injected: 1\r\nX-Forwarded-For: 1.1.1.1, 10.1.2.3\r\n"
      "X-Forwarded-Proto: http\r\nX-Forwarded-Host: gateway:8080\r\nX-Forwarded-Prefix: /p/" +
          std::string(kId) +
          "/80\r\nX-Request-Id: rqx\r\nHost: inner\r\nX-Inner: i\r\nContent-Length: 5\r\n\r\n");
}

TEST(ForwardedRequest, NeverLeavesThePrefixOfAnUpstream) {
  const auto head_of = [](const std::string& path, std::string_view prefix) {
    const http::Request request = request_for(std::string("/p/") + kId + "/80" + path);
    return forwarded_request_head({request, *port_address(request, ""), prefix, {}, {}});
  };
  for (const char* up : {"/..", "/../../v1", "/a/../b", "/%2e%2E/v1", "/a%2f..%2Fb", "/..%5cv1",
                         "/a\\..\\b", "/.%2e/", "/..;x/v1", "/..?q"}) {
    EXPECT_THROW(head_of(up, "/up"), Error) << up;
    EXPECT_TRUE(head_of(up, "").starts_with(std::string("GET ") + up + " ")) << up;
  }
  for (const char* fine :
       {"/", "/a..b/", "/.../x", "/a/..b", "/x?p=/../y", "/%2e%2", "/%252e%252e/"})
    EXPECT_TRUE(head_of(fine, "/up").starts_with(std::string("GET /up") + fine + " ")) << fine;
}

TEST(ForwardedRequest, KeepsTheListsThatCameOnSeveralLines) {
  http::Request request = request_for(std::string("/p/") + kId + "/80/");
  for (const char* value : {"1.1.1.1", "2.2.2.2"}) request.headers.add("X-Forwarded-For", value);
  const auto address = port_address(request, "");
  const std::string head = forwarded_request_head({request, *address, "", {}, {}});
  EXPECT_NE(head.find("X-Forwarded-For: 1.1.1.1, 2.2.2.2, 10.1.2.3\r\n"), std::string::npos);
}

TEST(ForwardedRequest, AsksTheProgramForNoOtherProtocolThanWebSocket) {
  http::Request request = request_for(std::string("/p/") + kId + "/80/");
  for (const char* value : {"h2c", "websocket"}) request.headers.add("Upgrade", value);
  const auto address = port_address(request, "");
  EXPECT_EQ(forwarded_request_head({request, *address, "", {}, {}}).find("Upgrade"),
            std::string::npos);
  const std::string head =
      forwarded_request_head({request, *address, "", {}, {}, /*websocket=*/true});
  EXPECT_TRUE(head.ends_with("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")) << head;
  EXPECT_EQ(head.find("h2c"), std::string::npos);
}

TEST(ForwardedRequest, PassesAnyMethodOn) {
  http::Request request = request_for(std::string("/p/") + kId + "/80/x");
  request.method = http::Method::other;
  request.other_method = "PROPFIND";
  const auto address = port_address(request, "");
  EXPECT_TRUE(
      forwarded_request_head({request, *address, "", {}, {}}).starts_with("PROPFIND /x HTTP/1.1"));
}

// nginx and Envoy do the same: a client that says so takes away nothing that is for the program.
TEST(ForwardedRequest, AConnectionFieldTakesNothingFromTheProgram) {
  http::Request request = request_for(std::string("/p/") + kId + "/80/");
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
           {"Connection", "Host, authorization, Cookie, X-Gone"},
           {"Connection", "Content-Type,X-Real-IP,If-None-Match,X-Gone-Too"},
           {"Authorization", "Bearer own"},
           {"Cookie", "a=1"},
           {"Content-Type", "text/plain"},
           {"X-Real-IP", "1.1.1.1"},
           {"If-None-Match", "\"e\""},
           {"X-Gone", "1"},
           {"X-Gone-Too", "1"}})
    request.headers.add(name, value);
  const auto address = port_address(request, "");
  const std::string head = forwarded_request_head({request, *address, "", {}, {}});
  EXPECT_TRUE(
      head.starts_with("GET / HTTP/1.1\r\nHost: gateway:8080\r\nAuthorization: Bearer own\r\n"
                       "Cookie: a=1\r\nContent-Type: text/plain\r\nX-Real-IP: 1.1.1.1\r\n"
                       "If-None-Match: \"e\"\r\nX-Forwarded-For: "))
      << head;
  for (const char* whole : {"Keep-Alive", "Upgrade", "Transfer-Encoding", "TE"})
    EXPECT_TRUE(is_hop_by_hop(whole, {}));
}

// Each field is looked up among the names, so that many of both would take seconds.
TEST(ForwardedRequest, ConnectionFieldsNameFew) {
  const auto refused = [](const std::string& connection) {
    http::Request request = request_for(std::string("/p/") + kId + "/80/");
    request.headers.add("Connection", "keep-alive");
    request.headers.add("Connection", connection);
    const auto address = port_address(request, "");
    try {
      forwarded_request_head({request, *address, "", {}, {}});
      return false;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::invalid);
      return true;
    }
  };
  std::string names = "x";
  for (size_t i = 2; i < ConnectionNames::kMaxNames; ++i) names += ", x";
  EXPECT_FALSE(refused(names + std::string(15'000, ',')));
  EXPECT_TRUE(refused(names + ",x"));
}

TEST(ForwardedResponse, KeepsLocationsAndCookiesBelowThePrefix) {
  PortAddress address;
  address.prefix = "/p/x/80";
  EXPECT_EQ(confined_location("/login?a", address, "h:1"), "/p/x/80/login?a");
  for (const char* same : {"/p/x/80/login", "/p/x/80", "//other/", "relative", "http://a/b", ""})
    EXPECT_EQ(confined_location(same, address, "h:1"), same);
  EXPECT_EQ(confined_location("/p/x/800", address, ""), "/p/x/80/p/x/800");
  EXPECT_EQ(confined_cookie("a=b", address), "a=b; Path=/p/x/80/");
  EXPECT_EQ(confined_cookie("a=b; path=/c; Domain=x; HttpOnly", address),
            "a=b; HttpOnly; Path=/p/x/80/c");
  EXPECT_EQ(confined_cookie("domain=b;Path", address), "domain=b; Path=/p/x/80/");
  EXPECT_EQ(confined_cookie("a=b; Domain =x;domain\t= x; Path = /c ; Secure", address),
            "a=b; Secure; Path=/p/x/80/c");
  EXPECT_EQ(confined_cookie("__Host-a=b; Secure; Path=/", address),
            "__Secure-sandgate-host-a=b; Secure; Path=/p/x/80/");
  EXPECT_EQ(cookies_for_program("x=1; __Secure-sandgate-host-a=b; sandgate_token=t", address),
            "x=1; __Host-a=b");
  const PortAddress by_host;
  EXPECT_EQ(confined_cookie("__Host-a=b; Secure; Path=/", by_host), "__Host-a=b; Secure; Path=/");
  EXPECT_EQ(confined_cookie("a=b; Domain =example.com; Path = /c", by_host), "a=b; Path = /c");
  EXPECT_EQ(confined_cookie("a=b; Domain=example.com; Path=/c; Secure", by_host),
            "a=b; Path=/c; Secure");
}

TEST(ForwardedResponse, KeepsLocationsThatNameTheGateway) {
  PortAddress address;
  address.prefix = "/p/x/80";
  const auto kept = [&](const char* location, const char* host = "gw.example") {
    return confined_location(location, address, host);
  };
  EXPECT_EQ(kept("http://gw.example/a?b"), "http://gw.example/p/x/80/a?b");
  EXPECT_EQ(kept("https://GW.example:443/a"), "https://GW.example:443/p/x/80/a");
  EXPECT_EQ(kept("//gw.example/a"), "//gw.example/p/x/80/a");
  EXPECT_EQ(kept("http://gw.example"), "http://gw.example/p/x/80/");
  EXPECT_EQ(kept("http://gw.example?q"), "http://gw.example/p/x/80/?q");
  EXPECT_EQ(kept("http://gw.example/a", "gw.example:80"), "http://gw.example/p/x/80/a");
  EXPECT_EQ(kept("http://gw:8080/a", "gw:8080"), "http://gw:8080/p/x/80/a");
  for (const char* same :
       {"http://gw.example/p/x/80/a", "http://gw.example:8080/a", "http://gw.example.org/a",
        "http://u@gw.example/a", "//other/a", "ftp://gw.example/a", "http:gw.example"})
    EXPECT_EQ(kept(same), same);
  EXPECT_EQ(kept("http:///a", ""), "http:///a");
}

TEST(ForwardedResponse, WhatAnUpstreamPutBeforeThePathIsTakenAwayAgain) {
  const Upstream upstream{"inner:1", "/p/y/80"};
  const auto said = [&](const char* location) { return program_location(location, upstream); };
  EXPECT_EQ(said("/p/y/80/login?a"), "/login?a");
  EXPECT_EQ(said("http://inner:1/p/y/80/login"), "/login");
  EXPECT_EQ(said("//inner:1/p/y/80"), "/");
  EXPECT_EQ(said("/p/y/80?a"), "/?a");
  EXPECT_EQ(said("/p/y/80//host/a"), "/.//host/a");
  for (const char* same : {"/p/y/800", "/login", "http://inner:1/v1", "http://other/p/y/80/", "a"})
    EXPECT_EQ(said(same), same);
  EXPECT_EQ(program_location("/login", {}), "/login");
  PortAddress address;
  EXPECT_EQ(confined_cookie("a=b; Path=/p/y/80/c; Secure", address, upstream),
            "a=b; Path=/c; Secure");
  address.prefix = "/p/x/80";
  EXPECT_EQ(confined_cookie("a=b; Path=/p/y/80/c", address, upstream), "a=b; Path=/p/x/80/c");
}

std::string returned(std::initializer_list<std::string> fields, const PortAddress& address = {}) {
  AppResponse answer(false);
  std::string text = "HTTP/1.1 200 OK\r\n";
  for (const std::string& field : fields) text += field + "\r\n";
  answer.parse_head(text + "Content-Length: 0\r\n\r\n");
  const http::Request request = request_for("/");
  return forwarded_response_head({answer, address, request, {}, "sandgate_token=ours"});
}

TEST(ForwardedResponse, TheIdAndThePortsCookieAreOurs) {
  const std::string head =
      returned({"X-Request-Id: theirs", "Set-Cookie: sandgate_token=evil; Path=/x",
                "Set-Cookie:  = sandgate_token =evil", "Set-Cookie: xsandgate_token=own"});
  EXPECT_EQ(head,
            "HTTP/1.1 200 OK\r\nSet-Cookie: xsandgate_token=own\r\nX-Request-Id: rqx\r\n"
            "Set-Cookie: sandgate_token=ours\r\n\r\n");
}

TEST(ForwardedResponse, ProxiesInFrontAreNotToldWhatToSend) {
  const std::string head =
      returned({"X-Accel-Redirect: /private/secret", "x-sendfile: /etc/passwd",
                "X-LIGHTTPD-send-file: /etc/passwd", "X-REPROXY-URL: http://169.254.169.254/",
                "X-Reproxy-File: /etc/passwd", "X-Accel-Buffering: no"});
  EXPECT_EQ(head.substr(0, head.find("X-Request")), "HTTP/1.1 200 OK\r\nX-Accel-Buffering: no\r\n");
}

TEST(ForwardedResponse, BelowAPathNothingSpeaksForTheWholeOrigin) {
  const std::initializer_list<std::string> fields{
      "Service-Worker-Allowed: /",
      "clear-site-data: \"*\"",
      "Secure-Session-Registration: (ES256);path=\"/p/x/80/start\"",
      "Sec-Session-Registration: (ES256);path=\"/p/x/80/start\"",
      "set-login: logged-out",
      "Accept-CH: DPR"};
  PortAddress by_path;
  by_path.prefix = "/p/x/80";
  const std::string head = returned(fields, by_path);
  EXPECT_EQ(head.substr(0, head.find("X-Request")), "HTTP/1.1 200 OK\r\nAccept-CH: DPR\r\n");
  const std::string own = returned(fields);
  for (const std::string& field : fields) EXPECT_NE(own.find(field + "\r\n"), own.npos) << field;
}

TEST(ForwardedResponse, EveryConnectionFieldIsReadAndTheyNameFew) {
  const std::string head =
      returned({"Connection: X-A,, ", "connection: x-b", "X-A: 1", "X-B: 1", "X-C: 1"});
  EXPECT_EQ(head.substr(0, head.find("X-Request")), "HTTP/1.1 200 OK\r\nX-C: 1\r\n");
  std::string names = "Connection: x";
  for (size_t i = 1; i < ConnectionNames::kMaxNames; ++i) names += ",x";
  EXPECT_NO_THROW(returned({names}));
  try {
    returned({names, "Connection: x"});
    ADD_FAILURE() << "too many names passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::unavailable);
  }
}

// What of a chunked body comes to be told when it arrives byte by byte; what is not used stays.
std::string heard(std::string_view body) {
  AppResponse answer(false);
  answer.parse_head("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  std::string unread, told;
  std::array<char, 64> room;
  for (const char byte : body) {
    unread += byte;
    unread.erase(0, answer.parse_body(unread, room));
    told.append(room.data(), answer.body_bytes());
    if (answer.is_done()) return told + "|";
  }
  return told;
}

TEST(AppAnswers, AReasonMayBeLeftOutWithItsSpace) {
  for (const char* line : {"HTTP/1.1 204", "HTTP/1.0 204 ", "HTTP/1.1 204 None"}) {
    AppResponse answer(false);
    const std::string head = std::string(line) + "\r\nX-A: 1\r\n\r\n";
    EXPECT_EQ(answer.parse_head(head + "next"), head.size()) << line;
    EXPECT_TRUE(answer.head_done());
    EXPECT_EQ(answer.status(), 204);
    EXPECT_EQ(answer.fields().size(), 1u);
  }
  AppResponse slow(false);
  EXPECT_EQ(slow.parse_head("HTTP/1.1 204\r"), 0u);
  EXPECT_EQ(slow.parse_head("HTTP/1.1 204\r\n"), 14u);
  EXPECT_FALSE(slow.head_done());
  EXPECT_EQ(slow.parse_head("\r\n"), 2u);
  EXPECT_TRUE(slow.head_done());
  for (const char* wrong : {"HTTP/1.1 20\r\n\r\n", "HTTP/1.1 2x4\r\n\r\n", "HTTP/1.1 099\r\n\r\n",
                            "HTTP/1.12044\r\n\r\n", "HTTP/1.1 204\n"})
    EXPECT_THROW(AppResponse(false).parse_head(wrong), Error) << wrong;
}

TEST(AppAnswers, ChunksArriveInPiecesOfAnySize) {
  EXPECT_EQ(heard("0\r\n\r\n"), "|");
  EXPECT_EQ(heard("0\r\nTrailer: x\r\n\r\n"), "|");
  EXPECT_EQ(heard("3\r\nabc\r\n0\r\n\r\n"), "abc|");
  EXPECT_EQ(heard("3;a=b\r\na\nc\r\n0\r\n\r\n"), "a\nc|");
  EXPECT_EQ(heard("3\r\nabc\r\n"), "abc");
  for (const char* wrong : {"3\nabc\r\n0\r\n\r\n", "0\n\n", "xyz\r\n", "3\r\nabcd\r\n0\r\n\r\n"})
    EXPECT_THROW(heard(wrong), Error) << wrong;
}

TEST(ForwardedRequest, KeepsKeysBackInEveryForm) {
  const std::string key = "sg_" + std::string(40, 'a');
  const auto passes = [&](const std::string& authorization) {
    http::Request request = request_for(std::string("/p/") + kId + "/80/");
    request.headers.add("Authorization", authorization);
    const auto address = port_address(request, "");
    const std::vector<std::pair<std::string, std::string>> none;
    return forwarded_request_head({request, *address, "", none, {}}).find("Authorization") !=
           std::string::npos;
  };
  for (const std::string& pair : {"u:" + key, key + ":", key + ":x", key})
    EXPECT_FALSE(passes("Basic " + base64_encode(pair))) << pair;
  EXPECT_FALSE(passes("basic  " + base64_encode("u:" + key)));
  std::string unpadded = base64_encode("us:" + key);
  unpadded.erase(unpadded.find_last_not_of('=') + 1);
  EXPECT_FALSE(passes("Basic " + unpadded));
  for (const std::string& form :
       {"Bearer " + key, key, "Bearer " + key + ",", "token=\"" + key + "\""})
    EXPECT_FALSE(passes(form)) << form;
  for (const std::string& pair : {std::string("u:own"), "u:x" + key, std::string()})
    EXPECT_TRUE(passes("Basic " + base64_encode(pair))) << pair;
  EXPECT_TRUE(passes("Basic no base64"));
  EXPECT_TRUE(passes("Bearer " + key + "0"));
}

TEST(ForwardedRequest, KeepsTokensOfAddressesBack) {
  const auto passes = [](const std::string& name, const std::string& value) {
    http::Request request = request_for(std::string("/p/") + kId + "/80/");
    request.headers.add(name, value);
    const auto address = port_address(request, "");
    const std::vector<std::pair<std::string, std::string>> none;
    return forwarded_request_head({request, *address, "", none, {}}).find(value) !=
           std::string::npos;
  };
  for (const char* name : {"Referer", "Origin"}) {
    EXPECT_FALSE(passes(name, "http://h/?sandgate_token=x")) << name;
    EXPECT_FALSE(passes(name, "http://h/?a&sandgate%5ftoken=sgp_" + std::string(40, '0'))) << name;
    EXPECT_TRUE(passes(name, "http://h/?token=x")) << name;
  }
}

}  // namespace
}  // namespace sandgate::ports::test
