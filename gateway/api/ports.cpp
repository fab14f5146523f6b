#include "gateway/api/ports.hpp"

#include "gateway/api/page.hpp"
#include "gateway/api/sandboxes.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/core/number_text.hpp"
#include "gateway/core/random.hpp"
#include "gateway/core/time_json.hpp"
#include "gateway/ports/forwarded_request.hpp"
#include "gateway/ports/port_token.hpp"

namespace sandgate::api {
namespace {

constexpr int64_t kLongestLifetimeSeconds = 366LL * 24 * 3600;

struct PortDraft {
  uint16_t port = 0;
  ports::Access access = ports::Access::token;
  std::optional<std::chrono::seconds> lifetime;
};

PortDraft port_draft_from(const Json& body) {
  DocumentReader reader(body);
  PortDraft draft;
  reader.require("port");
  draft.port = static_cast<uint16_t>(reader.integer("port", 1, 65535).value_or(0));
  draft.access = reader.word("access", ports::kAccessWords).value_or(draft.access);
  if (const auto seconds = reader.integer("expires_in_seconds", 1, kLongestLifetimeSeconds))
    draft.lifetime = std::chrono::seconds(*seconds);
  reader.finish_or_throw();
  return draft;
}

uint16_t port_param(const http::Request& request) {
  const std::string& text = request.param("port");
  const auto port = number_from<uint16_t>(text);
  if (!port || std::to_string(*port) != text) throw Error::not_found("port", text);
  return *port;
}

}  // namespace

void PortHandlers::add_routes(http::Routes& routes) {
  using http::Method;
  using http::Permission;
  const auto add = [&](Method method, const char* pattern, Permission permission, auto handler) {
    const bool opens = method == Method::post;
    routes.add({.method = method,
                .pattern = pattern,
                .permission = permission,
                .body = opens ? http::BodyMode::buffered : http::BodyMode::none,
                .handler = std::bind_front(handler, this),
                .idempotent_create = opens,
                .secret_answer = opens});
  };
  const char* all = "/v1/sandboxes/{id}/ports";
  add(Method::post, all, Permission::use_sandboxes, &PortHandlers::open);
  add(Method::get, all, Permission::read_sandboxes, &PortHandlers::list);
  add(Method::delete_, "/v1/sandboxes/{id}/ports/{port}", Permission::use_sandboxes,
      &PortHandlers::close);
}

Json PortHandlers::render(const http::Request& request, const ports::OpenPort& port,
                          const Json& token) const {
  std::string url(ports::scheme_of(request, settings_.tls));
  url += "://";
  const std::string number = port.port == ports::kEveryPort ? "{port}" : std::to_string(port.port);
  if (settings_.domain.empty())
    url.append(request.headers.find("Host").value_or("localhost"))
        .append(ports::port_prefix(port.sandbox, number));
  else
    url += ports::port_host(port.sandbox, number, ports::reached_domain(request, settings_.domain));
  return {{"port", port.port},
          {"access", ports::kAccessWords.of(port.access)},
          {"url", url + "/"},
          {"token", token},
          {"created_at", to_rfc3339(port.created_at)},
          {"expires_at", time_json(port.expires_at)}};
}

Task<http::Response> PortHandlers::open(http::Request& request) {
  const PortDraft draft = port_draft_from(request.json());
  const OpenSandbox box = co_await access_.open(request.caller, request.param("id"), Verb::ports);
  ports::OpenPort port;
  port.sandbox = box.id;
  port.tenant = box.tenant;
  port.port = draft.port;
  port.access = draft.access;
  port.salt = random_hex(8);
  Json shown;
  if (draft.access == ports::Access::token) {
    const Secret token = ports::make_token();
    port.token_hash = sha256_hex(token.reveal());
    shown = token.reveal();
  }
  auto opening = store_.open(std::move(port), draft.lifetime, request.claim);
  const ports::OpenPort opened = co_await std::move(opening);
  http::Response response = http::Response::json(201, render(request, opened, shown));
  response.headers.emplace_back("Cache-Control", "no-store");
  co_return response;
}

Task<http::Response> PortHandlers::list(http::Request& request) {
  const PageRequest page = read_page(request, 1);
  const int64_t after = page.after.empty() ? -1 : page.integer_after(0);
  const auto found = co_await lifecycle_.get(request.tenant(), sandbox_id_of(request));
  if (is_ended(found->record.state)) throw wrong_state(found->record);
  auto rows = co_await store_.list(found->record.id);
  // The database's clock may differ from this gateway's.
  const Time now = lifecycle_.parts().clock.now();
  std::erase_if(rows, [&](const ports::OpenPort& port) {
    return port.port <= after || port.is_expired(now);
  });
  const auto key = [](const ports::OpenPort& port) {
    return std::vector<std::string>{std::to_string(port.port)};
  };
  const auto show = [&](const ports::OpenPort& port) { return render(request, port, nullptr); };
  co_return http::Response::json(200, page_json(page, rows, show, key));
}

Task<http::Response> PortHandlers::close(http::Request& request) {
  const uint16_t port = port_param(request);
  const auto found = co_await lifecycle_.get(request.tenant(), sandbox_id_of(request));
  if (is_ended(found->record.state)) throw wrong_state(found->record);
  const bool closed = co_await store_.close(found->record.id, port);
  if (!closed) throw Error::not_found("port", request.param("port"));
  co_return http::Response::empty(204);
}

}  // namespace sandgate::api
