#include "local/node/client.hpp"

#include "local/node/wire.hpp"

namespace sandgate {

Task<Json> NodeClient::call(std::string verb, Json params,
                            std::function<void(std::string_view)> progress) const {
  wire::Stream stream(co_await asio::this_coro::executor);
  asio::local::stream_protocol::endpoint address(path_);
  auto [error] = co_await stream.async_connect(address, asio::as_tuple(asio::use_awaitable));
  if (error) throw Error(ErrorCode::unavailable, "the local node does not answer");
  Json request{{"id", 1}, {"verb", std::move(verb)}, {"params", std::move(params)}};
  co_await wire::send(stream, std::move(request));
  for (;;) {
    std::optional<Json> answer = co_await wire::receive(stream);
    if (!answer) throw Error(ErrorCode::unavailable, "the local node broke off");
    if (answer->contains("error")) throw wire::error_from(*answer);
    if (answer->contains("result")) co_return (*answer)["result"];
    if (progress) progress(answer->value("progress", std::string()));
  }
}

}  // namespace sandgate
