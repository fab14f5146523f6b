#pragma once
#include <memory>
#include <mutex>
#include <string>

#include <boost/asio/ssl.hpp>

#include "gateway/core/time.hpp"

namespace sandgate::http {

// PEM files of a listener: the certificate with its chain, and the private key.
struct TlsFiles {
  std::string certificate;
  std::string key;
};

// Whether clients refuse the certificate for its dates: "it expired at …"; empty if they do not.
// Throws as TlsIdentity does.
std::string wrong_dates(const TlsFiles& files, Time now);

// The certificate in use. After reload() open connections keep the old one. Thread-safe.
class TlsIdentity {
 public:
  // Throws Error(invalid) that names the file and the problem.
  explicit TlsIdentity(TlsFiles files);
  void reload();  // throws likewise, and then keeps the old certificate
  std::shared_ptr<boost::asio::ssl::context> current() const;

 private:
  TlsFiles files_;
  mutable std::mutex mutex_;
  std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace sandgate::http
