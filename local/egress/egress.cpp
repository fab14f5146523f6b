#include "local/egress/egress.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gateway/core/log.hpp"
#include "gateway/core/tls_key_exchange.hpp"
#include "local/egress/descriptor_quota.hpp"
#include "local/egress/lockdown.hpp"
#include "local/egress/server.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate::egress {
namespace {

Json read_settings_file() {
  const Fd file(kSettingsFd);
  struct stat status {};
  check(fstat(file.get(), &status), "egress settings");
  std::string text(static_cast<size_t>(status.st_size), '\0');
  if (pread(file.get(), text.data(), text.size(), 0) != status.st_size)
    throw StepError("egress settings", EIO);
  return parse_json(text);
}

void trust_public_authorities(asio::ssl::context& tls, const std::string& more) {
  SSL_CTX_set_min_proto_version(tls.native_handle(), TLS1_2_VERSION);
  use_short_key_exchanges(tls.native_handle());
  tls.set_default_verify_paths();
  if (!more.empty()) tls.load_verify_file(more);
  const unsigned char http1[] = "\x08http/1.1";
  SSL_CTX_set_alpn_protos(tls.native_handle(), http1, sizeof http1 - 1);
}

[[noreturn]] void serve_node(const Json& settings) {
  log::configure(settings.at("log"));
  asio::io_context loop(1);
  asio::ssl::context tls(asio::ssl::context::tls_client);
  trust_public_authorities(tls, settings.value("authorities", std::string()));
  AddressPolicy address_policy(settings.at("private_cidrs").get<std::vector<std::string>>());
  const size_t descriptors = raise_descriptor_limit(kMaxDescriptors);
  lock_down(settings.at("uid").get<uid_t>());
  FairResolver resolver(loop, {});  // after lock_down(), which does not cover earlier threads
  const auto quota = std::make_shared<DescriptorQuota>(descriptors);
  log::info("egress process ready",
            {{"descriptors", descriptors}, {"connections", quota->connections()}});
  Server server({loop, resolver, quota, std::move(address_policy), tls}, Fd(kControlFd),
                Fd(kListenerFd), settings.at("serve_uid").get<uid_t>());
  spawn_detached(loop.get_executor(), [&] { return server.process_commands(); });
  spawn_detached(loop.get_executor(), [&] { return server.listen(); });
  loop.run();
  _exit(0);  // without waiting for threads that block in a lookup
}

}  // namespace

int run_egress() {
  signal(SIGPIPE, SIG_IGN);
  try {
    serve_node(read_settings_file());
  } catch (const StepError& failure) {
    log::error("egress ended", {{"step", failure.what()}, {"errno", failure.number}});
  } catch (const std::exception& failure) {
    log::error("egress ended", {{"reason", failure.what()}});
  }
  _exit(1);
}

}  // namespace sandgate::egress
