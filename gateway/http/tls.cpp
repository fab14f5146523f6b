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
  // OpenSSL would ask at a terminal, which a restarted server has not.
  bool is_locked = false;
  context->set_password_callback([&is_locked](size_t, ssl::context::password_purpose) {
    is_locked = true;
    return std::string();
  });
  context->use_private_key_file(files.key, ssl::context::pem, failure);
  if (is_locked)
    throw Error(ErrorCode::invalid,
                "the TLS key '" + files.key +
                    "' has a pass phrase, which nobody types when the gateway starts again: name "
                    "one without ('openssl pkey -in KEY -out NEW')");
  if (failure)
    throw Error(ErrorCode::invalid,
                "cannot use the TLS key '" + files.key + "': " + failure.message());
  return context;
}

Time to_time(const ASN1_TIME* moment) {
  tm parts{};
  ASN1_TIME_to_tm(moment, &parts);
  return Time(std::chrono::seconds(timegm(&parts)));
}

}  // namespace

std::string wrong_dates(const TlsFiles& files, Time now) {
  const auto context = load(files);
  const X509* certificate = SSL_CTX_get0_certificate(context->native_handle());
  const Time begin = to_time(X509_get0_notBefore(certificate));
  const Time end = to_time(X509_get0_notAfter(certificate));
  if (now > end) return "it expired at " + to_rfc3339(end);
  if (now < begin) return "it is not valid before " + to_rfc3339(begin);
  return "";
}

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
