#include "providers/transport/curl_client.hpp"

#include "gateway/core/field_text.hpp"
#include "gateway/core/settle.hpp"
#include "gateway/core/trace.hpp"
#include "providers/transport/curl_loop.hpp"

namespace sandgate {
namespace {

constexpr size_t kUploadRead = 256 << 10;

// A running transfer, which is aborted when the object is destroyed.
class RunningTransfer {
 public:
  RunningTransfer(std::shared_ptr<CurlLoop> loop, HttpCall call,
                  std::optional<std::string> addresses, bool whole_reply,
                  asio::any_io_executor executor)
      : loop_(std::move(loop)),
        transfer_(std::make_shared<CurlTransfer>(std::move(call), std::move(addresses), whole_reply,
                                                 std::move(executor))) {
    loop_->start(transfer_);
  }
  ~RunningTransfer() {
    transfer_->detach();
    loop_->drop(std::move(transfer_));
  }
  RunningTransfer(const RunningTransfer&) = delete;
  RunningTransfer& operator=(const RunningTransfer&) = delete;

  CurlTransfer& operator*() const { return *transfer_; }
  CurlTransfer* operator->() const { return transfer_.get(); }

  Task<size_t> read(std::span<char> into) {
    const size_t count = co_await transfer_->read(into);
    nudge();
    co_return count;
  }

  // Feeds the upload. A failure of the source ends the transfer with the same exception.
  Task<void> pump(ByteSource& source) {
    try {
      std::vector<char> buffer(kUploadRead);
      for (;;) {
        const size_t count = co_await source.read(buffer);
        if (count == 0) break;
        const std::span<const char> bytes(buffer.data(), count);
        co_await transfer_->write_upload(bytes);
        nudge();
      }
      transfer_->end_upload();
    } catch (...) {
      transfer_->fail_upload(std::current_exception());
    }
    nudge();
  }

 private:
  void nudge() {
    if (transfer_->wants_resume()) loop_->resume(transfer_);
  }

  std::shared_ptr<CurlLoop> loop_;
  std::shared_ptr<CurlTransfer> transfer_;
};

class CurlStream : public HttpStream {
 public:
  explicit CurlStream(std::unique_ptr<RunningTransfer> transfer) : transfer_(std::move(transfer)) {}
  int status() const override { return (*transfer_)->status(); }
  const HttpFields& headers() const override { return (*transfer_)->headers(); }
  const HttpFields& trailers() const override { return (*transfer_)->trailers(); }
  Task<size_t> read(std::span<char> into) override { return transfer_->read(into); }

 private:
  std::unique_ptr<RunningTransfer> transfer_;
};

Task<HttpReply> collect(RunningTransfer& transfer, size_t max_body) {
  co_await transfer->wait_for_head();
  HttpReply reply{transfer->status(), transfer->headers(), {}, {}};
  std::string piece(64 << 10, '\0');
  for (;;) {
    const size_t count = co_await transfer.read(piece);
    if (count == 0) {
      reply.trailers = transfer->trailers();
      co_return reply;
    }
    if (reply.body.size() + count > max_body)
      throw Error(ErrorCode::unavailable, "the backend's answer is too large");
    reply.body.append(piece, 0, count);
  }
}

Task<void> head_within(std::chrono::milliseconds deadline, CurlTransfer& transfer) {
  if (deadline.count() == 0) co_return co_await transfer.wait_for_head();
  auto waiting = with_timeout(deadline, transfer.wait_for_head());
  const auto ready = co_await std::move(waiting);
  if (!ready) throw Error(ErrorCode::timeout, transfer.peer() + " did not answer in time");
}

struct HostAndPort {
  std::string host, port;
};

// As libcurl reads it; empty if it will refuse it.
std::optional<HostAndPort> host_and_port_of(const std::string& url) {
  const std::unique_ptr<CURLU, void (*)(CURLU*)> parsed(curl_url(), curl_url_cleanup);
  char *host = nullptr, *port = nullptr;
  const bool good =
      parsed && curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) == CURLUE_OK &&
      curl_url_get(parsed.get(), CURLUPART_HOST, &host, 0) == CURLUE_OK &&
      curl_url_get(parsed.get(), CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK;
  std::optional<HostAndPort> place;
  if (good) place = HostAndPort{host, port};
  curl_free(host);
  curl_free(port);
  return place;
}

bool is_address(const std::string& host) {
  boost::system::error_code not_one;
  asio::ip::make_address(host, not_one);
  return !not_one || host.starts_with('[');
}

std::string resolve_entry(const HostAndPort& place, const HostAddresses& addresses) {
  std::string list;
  for (const auto& address : addresses)
    // libcurl takes no scope, and such an address is private.
    if (const std::string text = address.to_string(); text.find('%') == text.npos)
      list += (list.empty() ? "" : ",") + text;
  if (list.empty()) return "";
  return "+" + place.host + ":" + place.port + ":" + list;  // "+": kept for a minute, not for ever
}

// Propagates the trace of the request that causes this call.
void add_trace(HttpFields& headers, const asio::any_io_executor& here) {
  const TracePtr trace = trace_of(here);
  if (!trace) return;
  headers.emplace_back("traceparent", trace->parent);
  if (!trace->state.empty()) headers.emplace_back("tracestate", trace->state);
}

}  // namespace

std::optional<std::string_view> find_field(const HttpFields& fields, std::string_view name) {
  for (const auto& [key, value] : fields)
    if (equal_ignoring_case(key, name)) return value;
  return std::nullopt;
}

void check_fields(const HttpFields& fields) {
  constexpr std::string_view kEnds("\r\n\0", 3);
  for (const auto& [name, value] : fields)
    if (name.find_first_of(kEnds) != std::string::npos ||
        value.find_first_of(kEnds) != std::string::npos)
      throw Error(ErrorCode::unavailable, "the backend named what cannot be sent in a header");
}

const HttpFields& HttpStream::trailers() const {
  static const HttpFields kNone;
  return kNone;
}

CurlClient::CurlClient(AsyncResolver names)
    : names_(std::move(names)), loop_(std::make_shared<CurlLoop>()) {}
CurlClient::~CurlClient() = default;

// libcurl starts a thread for each lookup, and a tenant's name server may never answer. The names
// of the operator are left to it, since a proxy may look them up.
Task<std::optional<std::string>> CurlClient::look_up(HttpCall& call) {
  if (call.allow_private) co_return std::nullopt;
  const auto place = host_and_port_of(call.url);
  if (!place || is_address(place->host)) co_return std::nullopt;
  const bool is_limited = call.deadline.count() > 0;
  const auto limit =
      is_limited ? std::min(call.connect_timeout, call.deadline) : call.connect_timeout;
  const auto begin = std::chrono::steady_clock::now();
  auto looking = with_timeout(limit, names_.find(place->host, /*trusted=*/false));
  const auto found = co_await std::move(looking);
  if (!found) throw Error(ErrorCode::timeout, call.peer + " did not answer in time");
  const auto taken =
      std::chrono::ceil<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  if (is_limited) call.deadline = std::max(call.deadline - taken, std::chrono::milliseconds(1));
  co_return resolve_entry(*place, *found);
}

Task<std::optional<std::string>> CurlClient::addresses_for(HttpCall& call) {
  auto outcome = co_await attempt(look_up(call));
  if (const auto* error = std::get_if<Error>(&outcome)) throw never_sent(*error);
  co_return std::move(std::get<0>(outcome));
}

Task<HttpReply> CurlClient::call(HttpCall call) {
  check_fields(call.headers);
  ByteSource* upload = call.upload;
  const size_t max_body = call.max_body;
  const asio::any_io_executor here = co_await asio::this_coro::executor;
  add_trace(call.headers, here);
  auto addresses = co_await addresses_for(call);
  RunningTransfer transfer(loop_, std::move(call), std::move(addresses), /*whole_reply=*/true,
                           here);
  Task<HttpReply> reply = collect(transfer, max_body);
  if (upload) reply = with_companion(std::move(reply), transfer.pump(*upload));
  co_return co_await std::move(reply);
}

Task<std::unique_ptr<HttpStream>> CurlClient::stream(HttpCall call) {
  check_fields(call.headers);
  const asio::any_io_executor here = co_await asio::this_coro::executor;
  add_trace(call.headers, here);
  auto addresses = co_await addresses_for(call);
  const auto deadline = call.deadline;
  auto transfer = std::make_unique<RunningTransfer>(loop_, std::move(call), std::move(addresses),
                                                    /*whole_reply=*/false, here);
  auto head = head_within(deadline, **transfer);
  co_await std::move(head);
  co_return std::make_unique<CurlStream>(std::move(transfer));
}

}  // namespace sandgate
