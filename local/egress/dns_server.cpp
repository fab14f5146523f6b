#include "local/egress/dns_server.hpp"

#include "local/egress/dns_message.hpp"

namespace sandgate::egress {
namespace {

constexpr auto kDnsResult = asio::as_tuple(asio::use_awaitable);
constexpr uint32_t kTtlSeconds = 60;
constexpr size_t kMaxMessage = 4096;
constexpr int kMaxStreamQuestions = 64, kMaxQuestionsPerSecond = 500;
constexpr std::chrono::seconds kStreamTimeout{10};

// Rate limit of UDP queries per second. More wait in the socket, where the kernel drops what finds
// no room: to read a flood in order to drop it would take time from all sandboxes.
class RateLimit {
 public:
  using Clock = std::chrono::steady_clock;

  // Counts a query. Returns how long the next one has to wait.
  Clock::duration take() {
    const auto now = Clock::now();
    if (now - window_ >= kWindow) {
      window_ = now;
      taken_ = 0;
    }
    return ++taken_ < kMaxQuestionsPerSecond ? Clock::duration(0) : window_ + kWindow - now;
  }

 private:
  static constexpr std::chrono::seconds kWindow{1};
  Clock::time_point window_;
  int taken_ = 0;
};

std::array<uint8_t, 4> bytes_of(uint32_t address) {
  return {uint8_t(address >> 24), uint8_t(address >> 16), uint8_t(address >> 8), uint8_t(address)};
}

}  // namespace

std::string dns_reply(EgressSandbox& sandbox, std::string_view message) {
  const DnsParsed parsed = parse_dns_query(message);
  if (parsed.refusal) return dns_refusal(*parsed.refusal);
  if (!parsed.question) return "";
  const DnsQuestion& question = *parsed.question;
  if (!sandbox.policy().knows(question.name)) {
    const bool shown = host_name_from(question.name).has_value();
    sandbox.log_refusal(shown ? question.name : "(not a host name)", "dns", "no_rule");
    return dns_answer(question, DnsCode::no_such_name);
  }
  // No HTTPS or SVCB records: they could carry keys for an encrypted ClientHello.
  if (question.type != kTypeA) return dns_answer(question, DnsCode::ok);
  return dns_answer_v4(question, bytes_of(sandbox.names().address_of(question.name)), kTtlSeconds);
}

Task<void> serve_dns(std::shared_ptr<EgressSandbox> sandbox,
                     std::shared_ptr<asio::ip::udp::socket> socket) {
  std::string message(kMaxMessage, '\0');
  RateLimit limit;
  asio::ip::udp::endpoint peer;
  for (;;) {
    auto [error, bytes] =
        co_await socket->async_receive_from(asio::buffer(message), peer, kDnsResult);
    if (!socket->is_open()) co_return;
    if (error) continue;
    const std::string reply = dns_reply(*sandbox, std::string_view(message).substr(0, bytes));
    boost::system::error_code ignored;
    if (!reply.empty()) socket->send_to(asio::buffer(reply), peer, 0, ignored);
    const auto pause = limit.take();
    if (pause > RateLimit::Clock::duration(0)) co_await sleep_for(pause);
  }
}

Task<void> serve_dns_stream(std::shared_ptr<Connection> connection) {
  connection->set_idle_timeout(kStreamTimeout);
  for (int asked = 0; asked < kMaxStreamQuestions; ++asked) {
    std::array<uint8_t, 2> head{};
    auto [error, got] =
        co_await asio::async_read(connection->client, asio::buffer(head), kDnsResult);
    const size_t size = size_t{head[0]} << 8 | head[1];
    if (error || size > kMaxMessage) co_return;
    std::string message(size, '\0');
    auto [broken, read] =
        co_await asio::async_read(connection->client, asio::buffer(message), kDnsResult);
    if (broken) co_return;
    std::string reply = dns_reply(*connection->sandbox, message);
    if (reply.empty()) co_return;
    reply.insert(0, {static_cast<char>(reply.size() >> 8), static_cast<char>(reply.size())});
    auto [failed, written] =
        co_await asio::async_write(connection->client, asio::buffer(reply), kDnsResult);
    if (failed) co_return;
  }
}

}  // namespace sandgate::egress
