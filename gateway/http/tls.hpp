#pragma once
#include <memory>
#include <mutex>
#include <string>

#include <boost/asio/ssl.hpp>

namespace sandgate::http {

// PEM files of a listener: the certificate with its chain, and its key.
struct TlsFiles {
  std::string certificate;
  std::string key;
};

// The certificate in use. reload() reads the files again; connections keep what they began with.
class TlsIdentity {
 public:
  // Throws Error(invalid) that names the file and what is wrong with it.
  explicit TlsIdentity(TlsFiles files);
  void reload();  // the same; the old certificate stays in use when it throws
  std::shared_ptr<boost::asio::ssl::context> current() const;

 private:
  TlsFiles files_;
  mutable std::mutex mutex_;
  std::shared_ptr<boost::asio::ssl::context> context_;
};

}  // namespace sandgate::http
