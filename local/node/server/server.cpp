#include "local/node/server/server.hpp"

#include <cstring>

#include "gateway/core/log.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/server/requests.hpp"
#include "local/node/server/verbs.hpp"
#include "local/node/supervisor/launch_failure.hpp"

namespace sandgate {
namespace {

constexpr int kMaxConnections = 2048;
constexpr std::chrono::seconds kStepsTimeout{15};
constexpr std::chrono::milliseconds kFirstLook{10}, kLongestLook{250};

Json failure_answer(const Json& id, std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return wire::error_answer(id, error);
  } catch (const StepError& step) {
    const std::string reason = std::string(step.what()) + ": " + std::strerror(step.number);
    log::error("request failed", {{"error", reason}});
    return wire::error_answer(id, Error(failure_code(step), "the node failed (" + reason + ")"));
  } catch (const std::system_error& refused) {
    log::error("request failed", {{"error", refused.what()}});
    return wire::error_answer(
        id, Error(failure_code(refused), "the node failed (" + refused.code().message() + ")"));
  } catch (const std::exception& other) {
    log::error("request failed", {{"error", other.what()}});
    return wire::error_answer(id, Error(ErrorCode::internal, "the node failed"));
  }
}

}  // namespace

NodeServer::NodeServer(const NodeSettings& settings, Supervisor& supervisor,
                       asio::thread_pool& pool, asio::thread_pool& endings)
    : settings_(settings), supervisor_(supervisor), pool_(pool), endings_(endings) {}

Task<void> NodeServer::serve(int listener) {
  auto executor = co_await asio::this_coro::executor;
  asio::local::stream_protocol::acceptor acceptor(executor, asio::local::stream_protocol(),
                                                  listener);
  for (;;) {
    auto [error, stream] = co_await acceptor.async_accept(asio::as_tuple(asio::use_awaitable));
    if (error == asio::error::operation_aborted) co_return;
    if (error) {  // such as a lack of descriptors: wait until connections end
      co_await sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    if (connections_ >= kMaxConnections || !wire::is_peer(stream, settings_.serve_uid)) continue;
    ++connections_;
    spawn_detached(executor, [this, s = std::move(stream)]() mutable -> Task<void> {
      auto outcome = co_await attempt(serve_connection(std::move(s)));
      --connections_;
    });
  }
}

Task<void> NodeServer::serve_connection(wire::Stream stream) {
  while (std::optional<Json> request = co_await wire::receive(stream)) {
    co_await answer(stream, *request);
  }
}

Task<void> NodeServer::answer(wire::Stream& stream, const Json& request) {
  Json id = request.value("id", Json());
  Json reply;
  try {
    std::string verb = required_text(request, "verb");
    Json params = request.value("params", Json::object());
    Json result = co_await run(stream, std::move(verb), std::move(params));
    reply = {{"id", id}, {"result", std::move(result)}};
  } catch (...) {
    reply = failure_answer(id, std::current_exception());
  }
  co_await wire::send(stream, std::move(reply));
}

Task<Json> NodeServer::run(wire::Stream& caller, std::string verb, Json params) {
  const WorkClass work_class = work_class_of(verb, params);
  std::string tenant = work_class == WorkClass::copies ? tenant_of_disk(supervisor_, params) : "";
  std::function<Json()> work = [this, verb = std::move(verb), params = std::move(params)] {
    return answer_verb(settings_, supervisor_, verb, params);
  };
  if (work_class == WorkClass::quick) co_return co_await on_pool(pool_, std::move(work));
  if (work_class == WorkClass::copies) {
    auto copying = copy(caller, std::move(tenant), std::move(work));
    co_return co_await std::move(copying);
  }
  co_return co_await retry_until_done(work_class == WorkClass::ends ? endings_ : pool_,
                                      std::move(work));
}

// Whoever has left has given up what it asked for, and perhaps looked in vain for what is left.
Task<Json> NodeServer::copy(wire::Stream& caller, std::string tenant, std::function<Json()> work) {
  const auto slot = co_await copy_slots_.acquire(std::move(tenant));
  if (!wire::is_idle(caller.native_handle()))
    throw Error(ErrorCode::unavailable, "the caller has left");
  auto copying = on_pool(copies_, std::move(work));
  co_return co_await std::move(copying);
}

Task<Json> NodeServer::retry_until_done(asio::thread_pool& pool, std::function<Json()> work) {
  const auto limit = std::chrono::steady_clock::now() + kStepsTimeout;
  for (auto pause = kFirstLook;; pause = std::min(pause * 2, kLongestLook)) {
    try {
      auto step = on_pool(pool, work);
      co_return co_await std::move(step);
    } catch (const Error& failure) {
      if (failure.code != ErrorCode::timeout || std::chrono::steady_clock::now() > limit) throw;
    }
    co_await sleep_for(pause);
  }
}

}  // namespace sandgate
