#include "local/egress/http_forward.hpp"

#include <algorithm>

#include "gateway/core/field_text.hpp"
#include "local/egress/answer_begin.hpp"
#include "local/egress/answer_decoder.hpp"
#include "local/egress/refusal.hpp"

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
        begin(head.upgrade),
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
  // Whether bytes of the client are unread or still to come, so that a close would be a reset.
  bool is_client_speaking() const {
    boost::system::error_code failure;
    return !body_done() || said_more || connection->client.available(failure) > 0;
  }
  void end_request();
  void break_off();
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
  Task<bool> pass_response();
  std::string begin_response(std::string_view bytes);
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
  AnswerBegin begin;
  AnswerDecoder decoder;
  ChunkedBody chunks;
  uint64_t sent = 0;
  bool said_more = false;  // the client, behind its request
  std::string_view wrong;  // why the response is refused
  bool answering = false;  // the response has begun
  bool shown = false;  // the client has been sent some of it
  bool refused = false;
  bool over = false;  // the client has been answered; its connection is still open
  asio::steady_timer answered;  // expires when it is known whether the response switches
};

Task<void> Exchange::forward_request(std::string rest) {
  std::array<char, kBuffer> buffer;
  reset_upstream_at_end(true);
  while (!body_done()) {
    if (rest.empty()) {
      auto reading = client.read(buffer);
      const size_t got = (co_await std::move(reading)).value_or(0);
      co_await connection->wait_for_turn();
      if (got == 0 || over) co_return break_off();
      rest.assign(buffer.data(), got);
    }
    size_t used = 0;
    if (!take(rest, used)) {
      auto refusing = refuse_body();
      co_return co_await std::move(refusing);
    }
    auto sending = send(std::string_view(rest).substr(0, used));
    const bool ok = co_await std::move(sending);
    if (!ok || over) co_return break_off();
    rest.erase(0, used);
  }
  reset_upstream_at_end(false);
  said_more = !rest.empty();
  if (!head.upgrade) {
    auto watching = watch_client();
    co_return co_await std::move(watching);
  }
  co_await answered.async_wait(asio::as_tuple(asio::use_awaitable));
  if (over || !begin.switches()) co_return;
  auto carrying = forward_upgraded(std::move(rest));
  co_await std::move(carrying);
}

// A host may work long on an answer, and the connection counts towards the sandbox's limit. What
// the client sends behind its request is not read.
Task<void> Exchange::watch_client() {
  std::array<char, 1> more;
  auto reading = client.read(more);
  const std::optional<size_t> got = co_await std::move(reading);
  said_more = said_more || got.value_or(0) > 0;
  if (!got || (*got == 0 && client.ends_as_a_whole())) break_off();
}

// The client has its answer, so what it still sends is for nobody.
void Exchange::end_request() {
  over = true;
  boost::system::error_code ignored;
  connection->upstream.close(ignored);
  connection->client.cancel(ignored);
}

void Exchange::break_off() {
  if (!over) connection->close();
}

// Two answers would be taken for one, so once the upstream's has begun, the client's connection is
// only reset.
Task<void> Exchange::refuse_body() {
  const std::string target = to_string(*connection->target);
  connection->sandbox->log_refusal(target, "http", kMalformedBody);
  refused = true;
  boost::system::error_code ignored;
  connection->upstream.close(ignored);
  if (answering) co_return connection->close();
  over = true;
  auto refusing = write_refusal(client, 400, target, kMalformedBody);
  co_await std::move(refusing);
}

// After a protocol switch the client's bytes are forwarded unparsed.
Task<void> Exchange::forward_upgraded(std::string rest) {
  std::array<char, kBuffer> buffer;
  for (;;) {
    if (!rest.empty()) {
      auto sending = send(rest);
      const bool ok = co_await std::move(sending);
      if (!ok || over) co_return break_off();
    }
    auto reading = client.read(buffer);
    const std::optional<size_t> got = co_await std::move(reading);
    co_await connection->wait_for_turn();
    if (!got || over) co_return break_off();
    if (*got == 0) break;
    rest.assign(buffer.data(), *got);
  }
  co_await upstream.finish();
}

// Returns what may be passed on, nothing while more is needed.
std::string Exchange::begin_response(std::string_view bytes) {
  std::string passed = begin.take(bytes);
  wrong = begin.wrong();
  if (begin.is_over()) answered.expires_at(asio::steady_timer::time_point());
  return passed;
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
  decoder.take(begin.rest());
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
  connection->sandbox->log_refusal(target, "http", reason);
  if (shown) co_return connection->close();
  end_request();
  auto refusing = write_refusal(client, 502, target, reason);
  co_await std::move(refusing);
}

Task<void> Exchange::forward_response() {
  auto passing = pass_response();
  const bool told = co_await std::move(passing);
  answered.expires_at(asio::steady_timer::time_point());
  if (refused) co_return;
  if (!wrong.empty()) {
    auto refusing = refuse_response(wrong);
    co_return co_await std::move(refusing);
  }
  // Many answers end with their connection, so one that was broken off must not seem to be whole.
  if (!told) co_return connection->close();
  end_request();
  co_await client.finish();
}

// Returns whether the client has been sent the whole answer.
Task<bool> Exchange::pass_response() {
  std::array<char, kBuffer> buffer;
  std::optional<size_t> got;
  for (bool ok = true; ok;) {
    auto reading = upstream.read(buffer);
    got = co_await std::move(reading);
    co_await connection->wait_for_turn();
    if (refused) co_return false;
    if (!got || *got == 0) break;
    answering = true;
    connection->set_idle_timeout(kBodyTimeout);
    const std::string bytes = begin_response({buffer.data(), *got});
    if (!wrong.empty()) co_return false;
    if (bytes.empty()) continue;
    auto passing = write_response(bytes);
    ok = co_await std::move(passing);
  }
  if (!wrong.empty()) co_return false;
  auto ending = end_response(got == 0U);
  const bool ok = co_await std::move(ending);
  co_return ok&& got;
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
  if (!exchange.over || !exchange.is_client_speaking()) co_return;
  auto dropping = drop_rest(std::move(connection));
  co_await std::move(dropping);
}

}  // namespace sandgate::egress
