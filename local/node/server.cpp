#include "local/node/server.hpp"

#include <sys/socket.h>

#include <boost/asio/experimental/channel.hpp>

#include "gateway/core/log.hpp"
#include "gateway/core/random.hpp"
#include "gateway/core/settle.hpp"
#include "local/egress/control_channel.hpp"
#include "local/image/build.hpp"
#include "local/namespaces/step_error.hpp"
#include "local/node/image_garbage.hpp"
#include "local/node/requests.hpp"
#include "local/node/state_verbs.hpp"

namespace sandgate {
namespace {

constexpr int kMaxConnections = 2048;
constexpr size_t kProgressLines = 64;

bool is_welcome(int socket_fd, uid_t serve_uid) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || peer.uid == serve_uid;
}

std::vector<BackendSandbox> to_backends(const std::vector<JournalRecord>& records) {
  std::vector<BackendSandbox> sandboxes;
  for (const JournalRecord& record : records) sandboxes.push_back(to_backend(record));
  return sandboxes;
}

template <class T>
Json to_json(const std::vector<T>& values) {
  Json items = Json::array();
  for (const T& value : values) items.push_back(to_json(value));
  return items;
}

std::chrono::seconds ttl_from(const Json& params) {
  auto found = params.find("ttl_seconds");
  if (found == params.end() || !found->is_number_integer()) {
    throw Error::invalid("/ttl_seconds", "is required");
  }
  return std::chrono::seconds(found->get<int64_t>());
}

BuildOrder build_order_from(const Json& params) {
  Problems problems;
  ObjectReader reader(params, problems);
  BuildOrder order;
  order.name = reader.text("name", {1, 64}).value_or(order.name);
  order.suite = reader.text("suite", {1, 64}).value_or(order.suite);
  order.extra_packages = reader.texts("packages", 256).value_or(order.extra_packages);
  reader.finish();
  problems.throw_if_any();
  return order;
}

Json failure_answer(const Json& id, std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& error) {
    return wire::error_answer(id, error);
  } catch (const std::exception& other) {
    log::error("request failed", {{"error", other.what()}});
    return wire::error_answer(id, Error(ErrorCode::internal, "the node failed"));
  }
}

std::optional<Json> answer_network_verb(Supervisor& supervisor, const std::string& verb,
                                        const Json& params) {
  if (verb == "network") {
    const auto record = supervisor.find(required_text(params, "id"));
    if (!record) throw Error::not_found("sandbox", required_text(params, "id"));
    return egress::network_json(record->network);
  }
  if (verb == "set_network") {
    supervisor.set_network(required_text(params, "id"),
                           network_from(params.value("network", Json())));
    return Json::object();
  }
  return std::nullopt;
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
    if (error) {  // out of descriptors, say: the connections there are will end
      co_await sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    if (connections_ >= kMaxConnections ||
        !is_welcome(stream.native_handle(), settings_.serve_uid)) {
      continue;
    }
    ++connections_;
    spawn_detached(executor, [this, s = std::move(stream)]() mutable -> Task<void> {
      auto outcome = co_await attempt(converse(std::move(s)));
      --connections_;
    });
  }
}

Task<void> NodeServer::converse(wire::Stream stream) {
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
    Json result;
    if (verb == "build_image") {
      result = co_await build_image(stream, id, params);
    } else if (copies_a_disk(verb, params)) {
      result = co_await copy(std::move(verb), std::move(params));
    } else {
      const bool ends = verb == "kill" || verb == "finish";
      asio::thread_pool& pool = ends ? endings_ : pool_;
      auto work = [this, verb, params] { return handle(verb, params); };
      result = co_await on_pool(pool, std::move(work));
    }
    reply = {{"id", id}, {"result", std::move(result)}};
  } catch (...) {
    reply = failure_answer(id, std::current_exception());
  }
  co_await wire::send(stream, std::move(reply));
}

Task<Json> NodeServer::copy(std::string verb, Json params) {
  const std::string tenant = whose_disk(supervisor_, params);
  co_await copy_turns_.take(tenant);
  auto work = [this, verb = std::move(verb), params = std::move(params)] {
    return handle(verb, params);
  };
  auto copying = on_pool(copies_, std::move(work));
  Settled<Json> copied;
  auto settling = settle(std::move(copying), copied);
  co_await std::move(settling);
  copy_turns_.give_back(tenant);
  co_return copied.take();
}

Json NodeServer::describe_node() const {
  Descriptor descriptor = describe(supervisor_.capabilities());
  for (const ImageInfo& image : supervisor_.images().list()) descriptor.images.insert(image.name);
  static const std::string kInstance = random_hex(8);
  return {{"descriptor", sandgate::to_json(descriptor)},
          {"workspaces", settings_.workspaces},
          {"sandboxes", sandboxes_dir(settings_)},
          {"instance", kInstance}};
}

Json NodeServer::handle(const std::string& verb, const Json& params) {
  if (auto answered = answer_state_verb(supervisor_, verb, params)) return std::move(*answered);
  if (auto answered = answer_network_verb(supervisor_, verb, params)) return std::move(*answered);
  if (verb == "create") {
    return sandgate::to_json(to_backend(supervisor_.create(create_order_from(params))));
  }
  if (verb == "kill") {
    supervisor_.kill(required_text(params, "id"));
    return Json::object();
  }
  if (verb == "finish") {
    const auto counted = supervisor_.finish(required_text(params, "id"));
    return counted ? sandgate::to_json(*counted) : Json();
  }
  if (verb == "find") return find(required_text(params, "id"));
  if (verb == "list") return to_json(to_backends(supervisor_.list()));
  if (verb == "metrics") {
    return sandgate::to_json(supervisor_.metrics(required_text(params, "id")));
  }
  if (verb == "extend") {
    supervisor_.extend(required_text(params, "id"), ttl_from(params));
    return Json::object();
  }
  if (verb == "describe") return describe_node();
  if (verb == "ping") return Json::object();
  if (verb == "probe") return to_json(probe_machine(settings_));
  if (verb == "images") return to_json(supervisor_.images().list());
  if (verb == "collect_images") return Json(collect_images(settings_, supervisor_.images()));
  if (verb == "remove_image") {
    remove_image(required_text(params, "name"));
    return Json::object();
  }
  throw Error::invalid("/verb", "is not known");
}

Json NodeServer::find(const std::string& id) const {
  if (const auto record = supervisor_.find(id)) return sandgate::to_json(to_backend(*record));
  const auto counted = supervisor_.counted_of(id);
  if (!counted) return Json();
  return sandgate::to_json(BackendSandbox{
      .backend_id = id, .sandbox_id = id, .state = BackendState::gone, .counted = counted});
}

void NodeServer::remove_image(const std::string& name) {
  if (supervisor_.image_in_use(name)) {
    throw Error(ErrorCode::conflict, "a sandbox or snapshot needs this image");
  }
  supervisor_.drop_seats(name);
  supervisor_.images().remove(name);
  collect_images(settings_, supervisor_.images());
}

// The builder's lines are forwarded as they come; a client that does not read them loses lines,
// never the build.
Task<Json> NodeServer::build_image(wire::Stream& stream, Json id, Json params) {
  using Lines = asio::experimental::channel<void(boost::system::error_code, std::string)>;
  BuildOrder order = build_order_from(params);
  if (building_.exchange(true)) throw Error(ErrorCode::conflict, "an image is being built");
  auto executor = co_await asio::this_coro::executor;
  auto lines = std::make_shared<Lines>(executor, kProgressLines);
  auto outcome = std::make_shared<Outcome<ImageInfo>>(Error(ErrorCode::internal, "not built"));
  builder_ = std::jthread([this, order, lines, executor, outcome](const std::stop_token& stop) {
    auto tell = [&](std::string_view line) {
      asio::post(executor, [lines, text = std::string(line)] {
        lines->try_send(boost::system::error_code(), text);
      });
    };
    try {
      *outcome = sandgate::build_image(supervisor_.images(), order, tell, stop);
    } catch (const Error& error) {
      *outcome = error;
    } catch (const std::exception& error) {
      *outcome = Error(ErrorCode::internal, error.what());
    }
    building_ = false;
    asio::post(executor, [lines] { lines->close(); });
  });
  for (;;) {
    auto [error, line] = co_await lines->async_receive(asio::as_tuple(asio::use_awaitable));
    if (error) break;
    Json progress{{"id", id}, {"progress", std::move(line)}};
    co_await wire::send(stream, std::move(progress));
  }
  if (auto* error = std::get_if<Error>(outcome.get())) throw *error;
  co_return sandgate::to_json(std::get<ImageInfo>(*outcome));
}

}  // namespace sandgate
