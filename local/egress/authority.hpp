#pragma once
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include <boost/asio/ssl/context.hpp>

namespace sandgate::egress {

// A sandbox's own certificate authority, kept in memory only. It issues certificates for the hosts
// whose TLS the proxy terminates; only that sandbox is told to trust it.
class Authority {
 public:
  explicit Authority(const std::string& sandbox);  // throws Error(internal)
  ~Authority();
  Authority(const Authority&) = delete;

  const std::string& certificate_pem() const { return certificate_pem_; }
  // Returns a TLS server context with a certificate for exactly `host`, cached for the next call.
  // It keeps nothing of a connection that has ended.
  // Throws Error(internal), also beyond 64 cached hosts.
  boost::asio::ssl::context& context_for(const std::string& host);
  // Drops the contexts of other hosts; connections that use one continue.
  void keep_only(const std::set<std::string>& hosts);

 private:
  struct Pair;
  std::unique_ptr<Pair> own_;
  std::string certificate_pem_;
  std::unordered_map<std::string, std::unique_ptr<boost::asio::ssl::context>> contexts_;
};

}  // namespace sandgate::egress
