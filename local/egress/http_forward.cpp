#include "local/egress/http_forward.hpp"

#include <algorithm>

#include "gateway/core/field_text.hpp"
#include "gateway/core/json_text.hpp"
#include "local/egress/answer_decoder.hpp"
#include "local/egress/response_head.hpp"

namespace sandgate::egress {
namespace {

constexpr std::chrono::seconds kBodyTimeout{600};
constexpr size_t kBuffer = 16 * 1024;
constexpr std::string_view kMalformedBody = "malformed chunk";

// Hop-by-hop fields, which are not forwarded: those that always are, and those that the request's
// Connection fields name.
bool is_hop_by_hop(const std::string& lower_name, const ConnectionNames& connection) {
  constexpr std::array kNames{"connection", "keep-alive", "proxy-connection", "proxy-authorization",
                              "te",         "trailer",    "upgrade"};
  return std::ranges::find(kNames, lower_name) != kNames.end() || connection.has(lower_name);
}

// What asks for an answer in which a secret's value would not be seen: encoded, or a part of it.
// Some servers still take Request-Range, the name before there was a standard, for Range.
bool hides_the_answer(std::string_view lower_name) {
  constexpr std::array kNames{"accept-encoding", "range", "if-range",
                              "request-range",   "a-im",  "sec-websocket-extensions"};
  return std::ranges::find(kNames, lower_name) != kNames.end();
}

std::string head_text(const RequestHead& head, bool plain_answer) {
  // The answer is passed on as it is, and a client of HTTP/1.0 knows no chunks.
  const char* version = head.minor_version == 0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n";
  std::string text = head.method + " " + head.target + version;
  const ConnectionNames connection = connection_names(head).value();
  for (const HeaderField& field : head.fields) {
    const std::string name = ascii_lower(field.name);
    if (is_hop_by_hop(name, connection) || (plain_answer && hides_the_answer(name))) continue;
    text += field.name + ": " + field.value + "\r\n";
  }
  if (plain_answer) text += "Accept-Encoding: identity\r\n";
  return text + (head.upgrade ? "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
                              : "Connection: close\r\n\r\n");
}

// An answer that is masked is decoded first, since a coded value is not seen.
AnswerDecoder decoder_for(const RequestHead& head, const Redactor& redactor) {
  if (!redactor.is_active()) return AnswerDecoder();
  return AnswerDecoder({head.method == "HEAD", head.minor_version == 1});
}

// A request and its response, forwarded concurrently; the end of either cuts the connection.
struct Exchange {
  Exchange(std::shared_ptr<Connection> of, Stream& client, Stream& upstream, RequestHead request,
           Redactor redactor)
      : connection(std::move(of)),
        client(client),
        upstream(upstream),
        head(std::move(request)),
        redactor(std::move(redactor)),
        decoder(decoder_for(head, this->redactor)),
        answered(connection->sandbox->services().loop, asio::steady_timer::time_point::max()) {}

  Task<bool> send(std::string_view bytes) {
    connection->set_idle_timeout(kBodyTimeout);
    connection->count_sent(bytes.size());
    return upstream.write(bytes);
  }
  // Sets `used` to the length of the prefix of `bytes` that belongs to the body. Returns false when
  // the body is malformed.
  bool take(std::string_view bytes, size_t& used) {
    used = bytes.size();
    if (head.body == BodyKind::chunked) {
      used = chunks.take(bytes);
      return !chunks.bad();
    }
    used = static_cast<size_t>(std::min<uint64_t>(used, head.body_bytes - sent));
    sent += used;
    return true;
  }
  bool body_done() const {
    if (head.body == BodyKind::chunked) return chunks.done();
    return head.body == BodyKind::none || sent == head.body_bytes;
  }
  // A lenient server takes a body that ends with its connection for a whole one, also over TLS. So
  // until the body is whole, however the connection ends, the upstream's is reset.
  void reset_upstream_at_end(bool resets) {
    boost::system::error_code ignored;
    connection->upstream.set_option(asio::socket_base::linger(resets, 0), ignored);
  }

  Task<void> forward_request(std::string rest);
  Task<void> refuse_body();
  Task<void> watch_client();
  Task<void> forward_response();
  std::optional<std::string_view> begin_response(std::string_view bytes);
  Task<bool> write_response(std::string_view bytes);
  Task<bool> write_masked(std::string_view bytes);
  Task<bool> end_response(bool in_order);
  Task<void> refuse_response(std::string_view reason);
  Task<void> forward_upgraded(std::string rest);

  std::shared_ptr<Connection> connection;
  Stream& client;
  Stream& upstream;
  RequestHead head;
  Redactor redactor;
  AnswerDecoder decoder;
  ChunkedBody chunks;
  uint64_t sent = 0;
  std::string begin;  // of the response, until it is known whether it switches
  bool begun = false;  // it is known
  std::string_view wrong;  // why the response is refused
  bool answering = false;  // the response has begun
  bool shown = false;  // the client has been sent some of it
  bool refused = false;
  bool switched = false;
  asio::steady_timer answered;  // expires when it is known whether the response switches
};

Task<void> Exchange::forward_request(std::string rest) {
  std::array<char, kBuffer> buffer;
  reset_upstream_at_end(true);
  while (!body_done()) {
    if (rest.empty()) {
      auto reading = client.read(buffer);
      const size_t got = (co_await std::move(reading)).value_or(0);
      if (got == 0) co_return connection->close();
      rest.assign(buffer.data(), got);
    }
    size_t used = 0;
    if (!take(rest, used)) {
      auto refusing = refuse_body();
      co_return co_await std::move(refusing);
    }
    auto sending = send(std::string_view(rest).substr(0, used));
    const bool ok = co_await std::move(sending);
    if (!ok) co_return connection->close();
    rest.erase(0, used);
  }
  reset_upstream_at_end(false);
  if (!head.upgrade) {
    auto watching = watch_client();
    co_return co_await std::move(watching);
  }
  co_await answered.async_wait(asio::as_tuple(asio::use_awaitable));
  if (!switched) co_return;
  auto carrying = forward_upgraded(std::move(rest));
  co_await std::move(carrying);
}

// A host may work long on an answer, and the connection counts towards the sandbox's limit. What
// the client sends behind its request is not read.
Task<void> Exchange::watch_client() {
  std::array<char, 1> more;
  auto reading = client.read(more);
  const std::optional<size_t> got = co_await std::move(reading);
  if (!got || (*got == 0 && client.ends_as_a_whole())) connection->close();
}

// Two answers would be taken for one, so once the upstream's has begun, the client's connection is
// only reset.
Task<void> Exchange::refuse_body() {
  const std::string target = to_string(*connection->target);
  connection->sandbox->log_verdict(target, "http", false, kMalformedBody);
  refused = true;
  boost::system::error_code ignored;
  connection->upstream.close(ignored);
  if (!answering) {
    auto refusing = refuse(client, 400, target, kMalformedBody);
    co_await std::move(refusing);
  }
  connection->close();
}

// After a protocol switch the client's bytes are forwarded unparsed.
Task<void> Exchange::forward_upgraded(std::string rest) {
  std::array<char, kBuffer> buffer;
  for (;;) {
    if (!rest.empty()) {
      auto sending = send(rest);
      const bool ok = co_await std::move(sending);
      if (!ok) co_return connection->close();
    }
    auto reading = client.read(buffer);
    const std::optional<size_t> got = co_await std::move(reading);
    if (!got) co_return connection->close();
    if (*got == 0) break;
    rest.assign(buffer.data(), *got);
  }
  co_await upstream.finish();
}

// Returns what may be passed on, empty while the answer might be an unfinished head that switches
// protocols. To another than the WebSocket that was asked for, nothing would be inspected.
std::optional<std::string_view> Exchange::begin_response(std::string_view bytes) {
  if (begun) return bytes;
  const size_t read = begin.size();
  begin += bytes;
  const std::optional<bool> switches = may_switch(begin);
  if (!switches) return std::nullopt;
  if (*switches) {
    const size_t end = end_of_response_head(begin, read);
    if (end == std::string::npos && begin.size() <= kMaxResponseHead) return std::nullopt;
    switched =
        head.upgrade && parse_response_head(std::string_view(begin).substr(0, end)).to_websocket;
    if (!switched) wrong = "other_protocol";
  }
  begun = true;
  answered.expires_at(asio::steady_timer::time_point());
  return begin;
}

// Returns false when the answer is over: whole, refused, or the client has gone.
Task<bool> Exchange::write_response(std::string_view bytes) {
  decoder.take(bytes);
  for (std::string part = decoder.next(); !part.empty(); part = decoder.next()) {
    auto writing = write_masked(part);
    const bool ok = co_await std::move(writing);
    if (!ok) co_return false;
  }
  wrong = decoder.wrong();
  co_return wrong.empty() && !decoder.is_over();
}

// Few bytes may decode to many, which the client takes as slowly as it likes.
Task<bool> Exchange::write_masked(std::string_view bytes) {
  const std::string text = redactor.redact(bytes);
  if (redactor.has_failed()) wrong = "malformed_answer";
  if (!wrong.empty()) co_return false;
  connection->set_idle_timeout(kBodyTimeout);
  shown = shown || !text.empty();
  auto writing = client.write(text);
  const bool ok = co_await std::move(writing);
  co_return ok;
}

// Writes what is left when the upstream has ended its connection, or the answer is whole.
Task<bool> Exchange::end_response(bool in_order) {
  if (!begun) decoder.take(begin);
  std::string last = decoder.next();
  if (in_order) last += decoder.end();
  wrong = decoder.wrong();
  const std::string kept = redactor.redact(last) + redactor.flush();
  if (redactor.has_failed()) wrong = "malformed_answer";
  if (!wrong.empty()) co_return false;
  auto writing = client.write(kept);
  const bool ok = co_await std::move(writing);
  co_return ok;
}

// As refuse_body(): what has begun is only broken off.
Task<void> Exchange::refuse_response(std::string_view reason) {
  const std::string target = to_string(*connection->target);
  connection->sandbox->log_verdict(target, "http", false, reason);
  if (!shown) {
    auto refusing = refuse(client, 502, target, reason);
    co_await std::move(refusing);
  }
  connection->close();
}

Task<void> Exchange::forward_response() {
  std::array<char, kBuffer> buffer;
  std::optional<size_t> got;
  for (bool ok = true; ok;) {
    auto reading = upstream.read(buffer);
    got = co_await std::move(reading);
    if (refused) co_return;
    if (!got || *got == 0) break;
    answering = true;
    connection->set_idle_timeout(kBodyTimeout);
    const auto bytes = begin_response({buffer.data(), *got});
    if (!bytes) continue;
    if (!wrong.empty()) break;
    auto passing = write_response(*bytes);
    ok = co_await std::move(passing);
    begin = std::string();
  }
  bool ok = wrong.empty();
  if (ok) {
    auto ending = end_response(got == 0U);
    ok = co_await std::move(ending);
  }
  if (!wrong.empty()) {
    auto refusing = refuse_response(wrong);
    co_return co_await std::move(refusing);
  }
  // Many answers end with their connection, so one that was broken off must not seem to be whole.
  if (ok && got) co_await client.finish();
  answered.expires_at(asio::steady_timer::time_point());
  connection->close();
}

}  // namespace

Task<Received> read_head(Stream& from) {
  Received received;
  std::array<char, kBuffer> buffer;
  while (received.result.state == HeadState::incomplete) {
    auto reading = from.read(buffer);
    const size_t got = (co_await std::move(reading)).value_or(0);
    if (got == 0) break;
    received.rest.append(buffer.data(), got);
    // Byte by byte, a client would have its whole head read anew each time.
    const bool ends_line =
        std::find(buffer.data(), buffer.data() + got, '\n') != buffer.data() + got;
    if (ends_line || received.rest.size() > kMaxHeadBytes)
      received.result = parse_request_head(received.rest);
  }
  if (received.result.state == HeadState::complete) received.rest.erase(0, received.result.bytes);
  co_return received;
}

Task<void> refuse(Stream& to, int status, std::string target, std::string_view reason) {
  const Json document{{"error", "egress_refused"}, {"reason", reason}, {"target", target}};
  const std::string body = json_text(document) + "\n";
  const char* phrase = status == 403 ? "Forbidden" : status == 400 ? "Bad Request" : "Bad Gateway";
  const std::string text =
      "HTTP/1.1 " + std::to_string(status) + " " + phrase +
      "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\nConnection: close\r\n\r\n" + body;
  auto writing = to.write(text);
  const bool ok = co_await std::move(writing);
  if (ok) co_await to.finish();
}

bool is_for(const RequestHead& head, const Target& target, uint16_t default_port) {
  if (!head.target.starts_with('/') && !(head.target == "*" && head.method == "OPTIONS"))
    return false;
  const auto host = head.field("host");
  if (!target.is_name()) return true;
  return host && target_from(*host, default_port) == target;
}

Task<void> forward(std::shared_ptr<Connection> connection, Stream& client, Stream& upstream,
                   RequestHead head, std::string rest, Redactor redactor) {
  using namespace asio::experimental::awaitable_operators;
  connection->set_idle_timeout(kBodyTimeout);
  client.reset_on_close();
  const std::string text = head_text(head, redactor.is_active());
  Exchange exchange(connection, client, upstream, std::move(head), std::move(redactor));
  auto sending = exchange.send(text);
  const bool ok = co_await std::move(sending);
  if (!ok) co_return;
  auto both = exchange.forward_request(std::move(rest)) && exchange.forward_response();
  co_await std::move(both);
}

}  // namespace sandgate::egress
