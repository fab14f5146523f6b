#include "gateway/app/listeners.hpp"

#include <cstdio>
#include <thread>

#include "gateway/core/files.hpp"
#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

const http::Routes kNothingEarly;

void write_listen_file(const std::string& path, const std::string& address, uint16_t port) {
  const std::string text = address + ":" + std::to_string(port) + "\n";
  if (!replace_file(path, text, 0644, Durability::until_reboot))
    throw Error(ErrorCode::unavailable, "cannot write " + path);
}

// Not an error: another may be put in its place while the gateway runs.
void tell_of_wrong_dates(const http::TlsFiles& files) {
  const std::string wrong = http::wrong_dates(files, SystemClock().now());
  if (!wrong.empty())
    log::warn("clients refuse the TLS certificate",
              {{"certificate", files.certificate},
               {"reason", wrong + ": put a valid one there and reload, or set the clock right"}});
}

ports::PortProxy::Settings proxy_settings(const Config& config) {
  return {.domain = config.ports.domain,
          .relay = {.silence = std::chrono::seconds(config.ports.silence_seconds),
                    .tls = !config.tls.certificate.empty()}};
}

}  // namespace

Listeners::Listeners(Foundation& foundation, Registry& registry, Sandboxes& sandboxes,
                     Middleware& middleware, Api& api)
    : foundation_(foundation),
      e2b_(api.e2b()),
      metrics_(api.routes()),
      dispatcher_(api.routes(),
                  {.authenticator = middleware.authenticator,
                   .admission = &middleware.admission,
                   .idempotency = &middleware.idempotency,
                   .metrics = &metrics_,
                   .body_bytes = static_cast<size_t>(foundation.config.limits.body_bytes),
                   .body_memory = &middleware.body_memory,
                   .existence_check = &api.existence_check(),
                   .query_names = &api.query_names()}),
      port_proxy_(dispatcher_,
                  {.access = sandboxes.access,
                   .ports = sandboxes.ports,
                   .pool = sandboxes.app_pool,
                   .clock = foundation.clock,
                   .tenants = registry.tenant_directory,
                   .admission = middleware.admission},
                  proxy_settings(foundation.config)),
      start_gate_(api.routes(), dispatcher_, port_proxy_),
      e2b_gate_(kNothingEarly, e2b_.data(), e2b_.data()) {}

http::ServerOptions Listeners::options() const {
  const Config& config = foundation_.config;
  http::ServerOptions options;
  options.address = config.listen_address;
  options.port = config.listen_port;
  if (!config.tls.certificate.empty())
    options.tls = http::TlsFiles{config.tls.certificate, config.tls.key};
  options.max_connections = static_cast<size_t>(config.limits.connections);
  options.grace = std::chrono::seconds(config.limits.stop_grace_seconds);
  options.limits.header_bytes = static_cast<size_t>(config.limits.header_bytes);
  options.access_log = config.log.level == "debug";
  return options;
}

void Listeners::listen() {
  router_ = e2b_.router(start_gate_, e2b_gate_, /*data_listener=*/false);
  server_ = std::make_unique<http::Server>(foundation_.io, *router_, options());
  server_->start();
  log::info("listening",
            {{"address", foundation_.config.listen_address}, {"port", server_->port()}});
  if (const auto files = options().tls) tell_of_wrong_dates(*files);
}

void Listeners::listen_for_data_planes() {
  const Config& config = foundation_.config;
  if (config.e2b.listen_address.empty()) return;
  http::ServerOptions second = options();
  second.address = config.e2b.listen_address;
  second.port = config.e2b.listen_port;
  e2b_router_ = e2b_.router(start_gate_, e2b_gate_, /*data_listener=*/true);
  e2b_server_ = std::make_unique<http::Server>(foundation_.io, *e2b_router_, std::move(second));
  e2b_server_->start();
  write_listen_file(config.e2b_listen_file(), config.e2b.listen_address, e2b_server_->port());
}

void Listeners::open() {
  start_gate_.open();
  e2b_gate_.open();
  write_listen_file(foundation_.config.listen_file(), foundation_.config.listen_address,
                    server_->port());
}

void Listeners::reload() {
  const auto files = options().tls;
  if (!files) return;
  try {
    server_->reload_tls();
    if (e2b_server_) e2b_server_->reload_tls();
    tell_of_wrong_dates(*files);
  } catch (const Error& error) {
    log::error("certificates kept as they were", {{"reason", error.what()}});
  }
}

void Listeners::apply_limits() {
  const auto body_bytes = static_cast<size_t>(foundation_.config.limits.body_bytes);
  dispatcher_.set_body_bytes(body_bytes);
  e2b_.set_body_bytes(body_bytes);
  for (http::Server* server : {server_.get(), e2b_server_.get()})
    if (server) server->change(options());
}

void Listeners::stop() {
  // Both stop concurrently, so that they share one grace period.
  const std::jthread other([this] {
    if (e2b_server_) e2b_server_->stop();
  });
  server_->stop();
}

void Listeners::render(MetricText& out) const {
  metrics_.render(out);
  if (server_) out.gauge("sandgate_connections", "Connections of clients.", server_->connections());
}

}  // namespace sandgate
