#include "providers/transport/curl_client.hpp"

#include "gateway/core/settle.hpp"
#include "gateway/core/trace.hpp"
#include "providers/transport/curl_loop.hpp"

namespace sandgate {
namespace {

constexpr size_t kUploadRead = 256 << 10;

// A running transfer, which is aborted when the object is destroyed.
class RunningTransfer {
 public:
  RunningTransfer(std::shared_ptr<CurlLoop> loop, HttpCall call, bool whole_reply,
                  asio::any_io_executor executor)
      : loop_(std::move(loop)),
        transfer_(
            std::make_shared<CurlTransfer>(std::move(call), whole_reply, std::move(executor))) {
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
    if (key.size() == name.size() &&
        std::equal(key.begin(), key.end(), name.begin(), [](unsigned char a, unsigned char b) {
          return std::tolower(a) == std::tolower(b);
        }))
      return value;
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

CurlClient::CurlClient() : loop_(std::make_shared<CurlLoop>()) {}
CurlClient::~CurlClient() = default;

Task<HttpReply> CurlClient::call(HttpCall call) {
  check_fields(call.headers);
  ByteSource* upload = call.upload;
  const size_t max_body = call.max_body;
  const asio::any_io_executor here = co_await asio::this_coro::executor;
  add_trace(call.headers, here);
  RunningTransfer transfer(loop_, std::move(call), true, here);
  Task<HttpReply> reply = collect(transfer, max_body);
  if (upload) reply = with_companion(std::move(reply), transfer.pump(*upload));
  co_return co_await std::move(reply);
}

Task<std::unique_ptr<HttpStream>> CurlClient::stream(HttpCall call) {
  check_fields(call.headers);
  const auto deadline = call.deadline;
  const asio::any_io_executor here = co_await asio::this_coro::executor;
  add_trace(call.headers, here);
  auto transfer = std::make_unique<RunningTransfer>(loop_, std::move(call), false, here);
  auto head = head_within(deadline, **transfer);
  co_await std::move(head);
  co_return std::make_unique<CurlStream>(std::move(transfer));
}

}  // namespace sandgate
