#include "gateway/http/tls.hpp"

#include "gateway/core/error.hpp"
#include "gateway/core/tls_key_exchange.hpp"

namespace sandgate::http {
namespace {

namespace ssl = boost::asio::ssl;

std::shared_ptr<ssl::context> load(const TlsFiles& files) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 |
                       ssl::context::no_sslv3 | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
  use_short_key_exchanges(context->native_handle());
  // Frees the buffers of idle connections.
  SSL_CTX_set_mode(context->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  boost::system::error_code failure;
  context->use_certificate_chain_file(files.certificate, failure);
  if (failure)
    throw Error(ErrorCode::invalid,
                "cannot use the TLS certificate '" + files.certificate + "': " + failure.message());
  context->use_private_key_file(files.key, ssl::context::pem, failure);
  if (failure)
    throw Error(ErrorCode::invalid,
                "cannot use the TLS key '" + files.key + "': " + failure.message());
  return context;
}

}  // namespace

TlsIdentity::TlsIdentity(TlsFiles files) : files_(std::move(files)), context_(load(files_)) {}

void TlsIdentity::reload() {
  auto fresh = load(files_);
  const std::lock_guard lock(mutex_);
  context_ = std::move(fresh);
}

std::shared_ptr<ssl::context> TlsIdentity::current() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

}  // namespace sandgate::http
