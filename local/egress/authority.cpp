#include "local/egress/authority.hpp"

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "gateway/core/error.hpp"
#include "gateway/core/random.hpp"
#include "gateway/core/tls_key_exchange.hpp"

namespace sandgate::egress {
namespace {

constexpr int64_t kDay = 24 * 3600;
constexpr size_t kMaxContexts = 64;

template <class T, void (*release)(T*)>
struct Release {
  void operator()(T* object) const { release(object); }
};
using Key = std::unique_ptr<EVP_PKEY, Release<EVP_PKEY, EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Release<X509, X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Release<X509_EXTENSION, X509_EXTENSION_free>>;
using Number = std::unique_ptr<BIGNUM, Release<BIGNUM, BN_free>>;
using Memory = std::unique_ptr<BIO, Release<BIO, BIO_free_all>>;

void require(bool ok) {
  if (!ok) throw Error(ErrorCode::internal, "a certificate could not be made");
}

void add_extension(X509* certificate, X509* issuer, int id, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()));
  require(extension && X509_add_ext(certificate, extension.get(), -1) == 1);
}

// An unsigned certificate with a random serial number, valid from yesterday for one year.
Certificate blank(EVP_PKEY* key, const std::string& name) {
  Certificate certificate(X509_new());
  std::array<uint8_t, 16> serial{};
  random_fill(serial);
  serial[0] &= 0x7f;
  const Number number(BN_bin2bn(serial.data(), static_cast<int>(serial.size()), nullptr));
  require(number && BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate.get())));
  X509_set_version(certificate.get(), 2);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kDay);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 365 * kDay);
  require(X509_set_pubkey(certificate.get(), key) == 1);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  require(X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, text, -1, -1, 0) == 1);
  return certificate;
}

std::string pem_of(X509* certificate) {
  const Memory memory(BIO_new(BIO_s_mem()));
  require(memory && PEM_write_bio_X509(memory.get(), certificate) == 1);
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<size_t>(size)};
}

}  // namespace

struct Authority::Pair {
  Key key;
  Certificate certificate;
};

Authority::Authority(const std::string& sandbox) : own_(std::make_unique<Pair>()) {
  own_->key.reset(EVP_EC_gen("P-256"));
  require(own_->key != nullptr);
  own_->certificate = blank(own_->key.get(), "Sandgate " + sandbox);
  X509* certificate = own_->certificate.get();
  require(X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) == 1);
  add_extension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE,pathlen:0");
  add_extension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  add_extension(certificate, certificate, NID_subject_key_identifier, "hash");
  require(X509_sign(certificate, own_->key.get(), EVP_sha256()) > 0);
  certificate_pem_ = pem_of(certificate);
}

Authority::~Authority() = default;

void Authority::keep_only(const std::set<std::string>& hosts) {
  std::erase_if(contexts_, [&](const auto& one) { return !hosts.contains(one.first); });
}

boost::asio::ssl::context& Authority::context_for(const std::string& host) {
  if (const auto found = contexts_.find(host); found != contexts_.end()) return *found->second;
  require(contexts_.size() < kMaxContexts);
  Pair leaf;
  leaf.key.reset(EVP_EC_gen("P-256"));
  require(leaf.key != nullptr);
  // A common name holds 64 bytes only; clients check the subject alternative name.
  leaf.certificate = blank(leaf.key.get(), host.size() <= 64 ? host : "sandgate");
  X509* certificate = leaf.certificate.get();
  X509* issuer = own_->certificate.get();
  require(X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1);
  add_extension(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(certificate, issuer, NID_key_usage, "critical,digitalSignature");
  add_extension(certificate, issuer, NID_ext_key_usage, "serverAuth");
  add_extension(certificate, issuer, NID_subject_alt_name, "DNS:" + host);
  add_extension(certificate, issuer, NID_authority_key_identifier, "keyid");
  require(X509_sign(certificate, own_->key.get(), EVP_sha256()) > 0);
  auto context = std::make_unique<boost::asio::ssl::context>(boost::asio::ssl::context::tls_server);
  SSL_CTX* handle = context->native_handle();
  SSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION);
  use_short_key_exchanges(handle);
  // By default each client that takes no tickets would leave a session here for two hours.
  SSL_CTX_set_session_cache_mode(handle, SSL_SESS_CACHE_OFF);
  require(SSL_CTX_use_certificate(handle, certificate) == 1);
  require(SSL_CTX_use_PrivateKey(handle, leaf.key.get()) == 1);
  return *(contexts_[host] = std::move(context));
}

}  // namespace sandgate::egress
