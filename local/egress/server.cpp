#include "local/egress/server.hpp"

#include <poll.h>

#include "gateway/core/log.hpp"
#include "local/egress/network_json.hpp"

namespace sandgate::egress {
namespace {

constexpr size_t kMaxGrants = 64;
constexpr std::chrono::seconds kAgainIn{1};

std::string text_of(const Json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (found == object.end() || !found->is_string())
    throw Error::invalid(std::string("/") + name, "is required");
  return found->get<std::string>();
}

SecretGrants grants_from(const Json& params) {
  SecretGrants secrets{text_of(params, "revision"), {}};
  for (const Json& item : params.value("grants", Json::array())) {
    if (secrets.grants.size() == kMaxGrants) throw Error::invalid("/grants", "are too many");
    SecretGrant grant{text_of(item, "name"), text_of(item, "host"), text_of(item, "header"),
                      text_of(item, "placeholder"), Secret(text_of(item, "value"))};
    // These bytes would break the request head that the value is put into.
    if (grant.value.reveal().find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos)
      throw Error::invalid("/grants", "holds a value that is no header's");
    secrets.grants.push_back(std::move(grant));
  }
  return secrets;
}

}  // namespace

Server::Server(Services services, Fd control, Fd listener, uid_t serve_uid)
    : services_(std::move(services)),
      control_(services_.loop, control.release()),
      acceptor_(services_.loop, asio::local::stream_protocol(), listener.release()),
      serve_uid_(serve_uid) {}

Task<void> Server::process_commands() {
  for (;;) {
    auto [error] = co_await control_.async_wait(asio::posix::stream_descriptor::wait_read,
                                                asio::as_tuple(asio::use_awaitable));
    const bool there = !error && process_queued();
    if (!there) co_return services_.loop.stop();
  }
}

bool Server::process_queued() {
  pollfd control{control_.native_handle(), POLLIN, 0};
  while (poll(&control, 1, 0) > 0) {
    auto message = receive_control(control.fd);
    if (!message) return false;
    const Json done{{"ack", message->body.value("seq", Json())}};
    try {
      handle(std::move(*message));
    } catch (const std::exception& failure) {
      log::error("egress order failed", {{"reason", failure.what()}});
    }
    send_control(control.fd, done);
  }
  return true;
}

void Server::handle(ControlMessage message) {
  const std::string verb = text_of(message.body, "verb");
  if (verb == "ping") return;
  const std::string id = text_of(message.body, "id");
  if (verb == "attach") attach(id, std::move(message));
  const auto found = sandboxes_.find(id);
  if (found == sandboxes_.end()) return;
  if (verb == "policy") {
    found->second->set_policy(Policy(network_from(message.body.at("network"))));
  } else if (verb == "detach") {
    found->second->close();
    sandboxes_.erase(found);
  }
}

void Server::attach(const std::string& id, ControlMessage message) {
  if (sandboxes_.contains(id)) return;
  if (message.lost) return request_reattach(id);
  if (message.fds.size() != 5) return;
  Policy policy(network_from(message.body.at("network")));
  auto sandbox = std::make_shared<EgressSandbox>(services_, id, text_of(message.body, "tenant"),
                                                 std::move(policy), std::move(message.fds[4]));
  sandbox->open({std::move(message.fds[0]), std::move(message.fds[1]), std::move(message.fds[2]),
                 std::move(message.fds[3])});
  sandboxes_.emplace(id, std::move(sandbox));
}

// This process lacks descriptors: the sandbox has no egress until the node attaches it again.
void Server::request_reattach(const std::string& id) {
  log::error("no descriptors for a sandbox's way out", {{"sandbox", id}});
  spawn_detached(services_.loop.get_executor(), [this, id]() -> Task<void> {
    co_await sleep_for(kAgainIn);
    send_control(control_.native_handle(), {{"again", id}});
  });
}

Task<void> Server::listen() {
  for (;;) {
    auto [error, stream] = co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
    if (error) {
      co_await sleep_for(std::chrono::milliseconds(50));
      continue;
    }
    if (!wire::is_peer(stream, serve_uid_)) continue;
    spawn_detached(services_.loop.get_executor(),
                   [this, s = std::move(stream)]() mutable -> Task<void> {
                     auto talk = serve_connection(std::move(s));
                     const auto outcome = co_await attempt(std::move(talk));
                   });
  }
}

Task<void> Server::serve_connection(wire::Stream stream) {
  for (;;) {
    auto receiving = wire::receive(stream);
    const std::optional<Json> request = co_await std::move(receiving);
    if (!request) co_return;
    const Json id = request->value("id", Json());
    Json reply;
    try {
      reply = {{"id", id}, {"result", answer(*request)}};
    } catch (const Error& failure) {
      reply = wire::error_answer(id, failure);
    } catch (const std::exception&) {
      reply = wire::error_answer(id, Error(ErrorCode::invalid, "the request is not understood"));
    }
    auto sending = wire::send(stream, std::move(reply));
    co_await std::move(sending);
  }
}

EgressSandbox& Server::sandbox_of(const Json& params) {
  const std::string id = text_of(params, "id");
  // The node's command to attach it was sent before serve heard of it, but on the other socket.
  if (!sandboxes_.contains(id)) process_queued();
  const auto found = sandboxes_.find(id);
  if (found == sandboxes_.end()) throw Error::not_found("sandbox", id);
  return *found->second;
}

Json Server::set_secrets(const Json& params) {
  EgressSandbox& sandbox = sandbox_of(params);
  sandbox.set_secrets(grants_from(params));
  return {{"certificate", sandbox.authority().certificate_pem()}};
}

Json Server::lacking_trust() const {
  Json certificates = Json::object();
  for (const auto& [id, sandbox] : sandboxes_)
    if (sandbox->lacks_trust()) certificates[id] = sandbox->authority().certificate_pem();
  return certificates;
}

// What was installed may be the authority of this process's predecessor.
void Server::set_trusted(const Json& params) {
  EgressSandbox& sandbox = sandbox_of(params);
  if (sandbox.authority().certificate_pem() == text_of(params, "certificate"))
    sandbox.set_trusted();
}

Json Server::answer(const Json& request) {
  const std::string verb = text_of(request, "verb");
  const Json params = request.value("params", Json::object());
  if (verb == "set_secrets") return set_secrets(params);
  if (verb == "lacking_trust") return lacking_trust();
  if (verb == "trusted") {
    set_trusted(params);
    return Json::object();
  }
  if (verb == "revisions") {
    Json revisions = Json::object();
    for (const auto& [id, sandbox] : sandboxes_) revisions[id] = sandbox->secrets().revision;
    return revisions;
  }
  if (verb == "verdicts") {
    Json items = Json::array();
    for (const Verdict& verdict : sandbox_of(params).verdicts()) items.push_back(to_json(verdict));
    return items;
  }
  throw Error::invalid("/verb", "is not known");
}

}  // namespace sandgate::egress
