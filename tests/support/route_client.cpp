#include "tests/support/route_client.hpp"

#include <boost/asio/experimental/channel.hpp>

#include "gateway/http/problem.hpp"

namespace sandgate::test {
namespace {

using Pieces = asio::experimental::channel<void(boost::system::error_code, std::string)>;

class ChannelSink : public http::BodySink {
 public:
  explicit ChannelSink(std::shared_ptr<Pieces> pieces) : pieces_(std::move(pieces)) {}
  Task<void> write(std::span<const char> bytes) override {
    std::string piece(bytes.begin(), bytes.end());
    co_await pieces_->async_send({}, std::move(piece), asio::use_awaitable);
  }

 private:
  std::shared_ptr<Pieces> pieces_;
};

// The timer's cancellation ends it. Not a cancellation signal: emitted from outside the loop it
// would be delivered later, when the coroutine may be gone.
Task<void> until_stopped(Task<void> work, asio::steady_timer& stop) {
  using namespace asio::experimental::awaitable_operators;
  boost::system::error_code stopped;
  auto waiting = stop.async_wait(asio::redirect_error(asio::use_awaitable, stopped));
  co_await (std::move(work) || std::move(waiting));
}

// Runs `produce` on the side; dropping the stream cancels it, as a client that goes does.
class RouteStream : public HttpStream {
 public:
  RouteStream(asio::any_io_executor executor, http::Response response)
      : pieces_(std::make_shared<Pieces>(executor, 0)),
        stop_(
            std::make_shared<asio::steady_timer>(executor, asio::steady_timer::time_point::max())),
        status_(response.status) {
    headers_ = response.headers;
    if (auto* text = std::get_if<std::string>(&response.body)) {
      rest_ = std::move(*text);
      ended_ = true;
    } else {
      auto body = std::get<http::StreamBody>(response.body);
      auto work = [pieces = pieces_, stop = stop_, body]() -> Task<void> {
        ChannelSink sink(pieces);
        co_await until_stopped(body.produce(sink), *stop);
        pieces->close();
      };
      asio::co_spawn(executor, std::move(work),
                     [pieces = pieces_](std::exception_ptr) { pieces->close(); });
    }
  }
  ~RouteStream() override { stop_->cancel(); }

  int status() const override { return status_; }
  const HttpFields& headers() const override { return headers_; }
  Task<size_t> read(std::span<char> into) override {
    while (rest_.empty() && !ended_) {
      boost::system::error_code ended;
      rest_ = co_await pieces_->async_receive(asio::redirect_error(asio::use_awaitable, ended));
      if (ended) ended_ = true;
    }
    const size_t count = std::min(into.size(), rest_.size());
    std::copy_n(rest_.begin(), count, into.begin());
    rest_.erase(0, count);
    co_return count;
  }

 private:
  std::shared_ptr<Pieces> pieces_;
  std::shared_ptr<asio::steady_timer> stop_;
  int status_;
  HttpFields headers_;
  std::string rest_;
  bool ended_ = false;
};

http::Method method_of(const std::string& word) {
  for (const auto method : {http::Method::head, http::Method::post, http::Method::put,
                            http::Method::patch, http::Method::delete_})
    if (http::to_string(method) == word) return method;
  return http::Method::get;
}

std::string percent_decoded(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      plain.push_back(static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16)));
      i += 2;
    } else {
      plain.push_back(text[i]);
    }
  }
  return plain;
}

}  // namespace

Task<std::unique_ptr<HttpStream>> RouteClient::stream(HttpCall call) {
  const auto executor = co_await asio::this_coro::executor;
  const std::string target = call.url.substr(call.url.find('/', call.url.find("//") + 2));
  http::Request request;
  request.method = method_of(call.method);
  request.path = percent_decoded(target.substr(0, target.find('?')));
  if (const size_t mark = target.find('?'); mark != std::string::npos)
    request.query = http::Query(target.substr(mark + 1));
  for (const auto& [name, value] : call.headers) request.headers.add(name, value);
  request.caller = caller;
  const auto match = routes_.match(request.method, request.path);
  if (!match.route) throw Error(ErrorCode::internal, "no route for " + request.path);
  request.route = match.route->pattern;
  request.params = match.params;
  TextBytes text(call.body);
  if (match.route->body == http::BodyMode::streamed)
    request.stream = call.upload ? call.upload : &text;
  else
    request.body = call.body;
  auto outcome = co_await attempt(match.route->handler(request));
  const auto* error = std::get_if<Error>(&outcome);
  http::Response response =
      error ? http::problem(*error, "rq0") : std::move(std::get<http::Response>(outcome));
  co_return std::make_unique<RouteStream>(executor, std::move(response));
}

Task<HttpReply> RouteClient::call(HttpCall call) {
  auto answer = co_await stream(std::move(call));
  HttpReply reply{answer->status(), answer->headers(), {}};
  std::string piece(64 << 10, '\0');
  for (;;) {
    const size_t count = co_await answer->read(piece);
    if (count == 0) co_return reply;
    reply.body.append(piece, 0, count);
  }
}

}  // namespace sandgate::test
