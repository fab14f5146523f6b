#pragma once
#include <memory>
#include <set>
#include <string>
#include <unordered_map>

#include <boost/asio/ssl/context.hpp>

namespace sandgate::egress {

// A certificate authority for one sandbox, made anew each time and kept in memory only: it vouches
// for the hosts whose TLS the proxy ends, and only that sandbox is told to trust it.
class Authority {
 public:
  explicit Authority(const std::string& sandbox);  // throws Error(internal)
  ~Authority();
  Authority(const Authority&) = delete;

  const std::string& certificate_pem() const { return certificate_pem_; }
  // A server context that shows a certificate for exactly `host`; kept for the next time.
  boost::asio::ssl::context& context_for(const std::string& host);
  // Forgets those of other hosts; connections that use one go on.
  void keep_only(const std::set<std::string>& hosts);

 private:
  struct Pair;
  std::unique_ptr<Pair> own_;
  std::string certificate_pem_;
  std::unordered_map<std::string, std::unique_ptr<boost::asio::ssl::context>> contexts_;
};

}  // namespace sandgate::egress
