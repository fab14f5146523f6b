#pragma once
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "gateway/core/fair_semaphore.hpp"
#include "gateway/core/fd.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/tenant_log_limiter.hpp"
#include "gateway/core/time.hpp"
#include "local/egress/address_policy.hpp"
#include "local/egress/authority.hpp"
#include "local/egress/byte_count.hpp"
#include "local/egress/descriptor_quota.hpp"
#include "local/egress/fair_resolver.hpp"
#include "local/egress/policy.hpp"
#include "local/egress/redactor.hpp"
#include "local/egress/secret_header.hpp"
#include "local/egress/stream.hpp"
#include "local/egress/synthetic_names.hpp"

namespace sandgate::egress {

// Services shared by all sandboxes of the process. One thread runs everything but name lookups.
struct Services {
  asio::io_context& loop;
  FairResolver& resolver;
  std::shared_ptr<DescriptorQuota> descriptors;
  AddressPolicy address_policy;
  asio::ssl::context& upstream_tls;  // trusts the public authorities
  // What the kernel may hold for a sandbox's connections before their buffers are limited, in
  // bytes: no control group of a sandbox is charged for it.
  size_t most_buffered = 64 << 20;
  // See Connection::wait_for_turn(); by tenant.
  std::shared_ptr<FairSemaphore> turns = std::make_shared<FairSemaphore>(SIZE_MAX, 1);
  // Of the lines that each tenant's sandboxes cause, however many it has.
  std::shared_ptr<TenantLogLimiter> log_pace = std::make_shared<TenantLogLimiter>(10);
};

// An entry of a sandbox's egress log: a connection or name lookup, allowed or refused.
struct Verdict {
  Time at;
  std::string target;  // "host:port", or the name of a lookup
  std::string_view way;  // dns, connect, http, tls, tcp
  bool allowed = false;
  std::string_view reason;  // one word when refused
};
Json to_json(const Verdict& verdict);

// The sockets that listen inside a sandbox. Each may be empty.
struct Listeners {
  Fd dns_udp, dns_tcp, proxy,
      transparent;  // `transparent` takes every connection to a routed address
};

class EgressSandbox;

// A connection out of a sandbox, from accept to end. Counts towards its sandbox's and tenant's
// limits while it exists.
struct Connection {
  Connection(std::shared_ptr<EgressSandbox> sandbox, Socket client);
  ~Connection();
  Connection(const Connection&) = delete;

  void close();  // closes both sockets; operations waiting on them fail
  void set_idle_timeout(std::chrono::seconds timeout);  // sets the idle timeout, from now
  void set_buffers(bool limited);  // of both sockets, see socket_buffers.hpp
  // To be awaited before each piece of bytes is passed on: returns when all that was ready before
  // has had its turn. A tenant's connections come one after another, however many it has.
  Task<void> wait_for_turn();
  void count_sent(size_t bytes);  // counts bytes sent by the sandbox; received bytes do not count

  std::shared_ptr<EgressSandbox> sandbox;
  Socket client, upstream;
  std::optional<Target> target;  // once the policy has allowed it
  std::chrono::steady_clock::time_point deadline;
  bool ended = false;
};

// A sandbox in the egress process: its listening sockets, policy, secrets and connections. To be
// used on the loop's thread only.
class EgressSandbox : public std::enable_shared_from_this<EgressSandbox> {
 public:
  // `around` outlives it; `byte_count` is of open_byte_count(). Throws StepError.
  EgressSandbox(Services& services, std::string id, std::string tenant, Policy policy,
                Fd byte_count);
  ~EgressSandbox();

  void open(Listeners listeners);  // starts serving
  void close();  // stops serving and cuts all connections
  void set_policy(Policy policy);  // cuts connections that it does not allow
  void set_secrets(SecretGrants secrets);

  // Returns whether the policy allows the target, and logs the verdict.
  bool authorize(const Target& target, std::string_view way);
  // Logs that the target was refused; `reason` is one word. The log keeps the last 256 verdicts.
  void log_refusal(std::string target, std::string_view way, std::string_view reason);

  const std::string& id() const { return id_; }
  const std::string& tenant() const { return tenant_; }
  const Policy& policy() const { return policy_; }
  Services& services() { return services_; }
  SyntheticNames& names() { return names_; }
  const SecretGrants& secrets() const { return secrets_; }
  // As substitute_secrets() of secret_header.hpp, but `hidden` also contains the values of all
  // secrets granted for the host, since it may know them from earlier requests.
  SubstitutedSecrets substitute_secrets(RequestHead& head, const std::string& host);
  Authority& authority();
  // Whether the sandbox itself is not known to trust its authority, although it has one.
  bool lacks_trust() const { return authority_ && !trusted_; }
  void set_trusted() { trusted_ = true; }
  // Whether its connections hold too much, so that new ones have limited buffers, too.
  bool has_limited_buffers() const { return limited_; }
  const std::deque<Verdict>& verdicts() const { return verdicts_; }

 private:
  friend struct Connection;
  using Acceptor = asio::ip::tcp::acceptor;
  using Handler = Task<void> (*)(std::shared_ptr<Connection>);

  bool can_accept() const;
  Task<void> accept_connections(std::shared_ptr<Acceptor> acceptor, Handler handler);
  static Task<void> serve_connection(std::shared_ptr<Connection> connection, Handler handler);
  Task<void> sweep();
  void sweep_idle();
  void limit_buffers_if_needed();
  void serve_on(Fd listener, bool v6, Handler handler);
  void add_verdict(Verdict verdict);  // at this moment; drops the oldest of 256

  Services& services_;
  const std::shared_ptr<DescriptorQuota> descriptors_;
  const std::string id_, tenant_;
  Policy policy_;
  SecretGrants secrets_;
  std::map<std::string, Needles> needles_;  // by host, of requests since secrets_ changed
  SyntheticNames names_;
  std::unique_ptr<Authority> authority_;  // created on first use
  bool trusted_ = false;
  std::set<Connection*> connections_;
  std::vector<std::shared_ptr<Acceptor>> acceptors_;
  std::shared_ptr<asio::ip::udp::socket> dns_;
  asio::steady_timer slot_freed_;  // cancelled when another connection may be allowed
  asio::steady_timer sweep_timer_;
  std::deque<Verdict> verdicts_;
  ByteCount bytes_;
  bool limited_ = false;
  bool closed_ = false;
};

}  // namespace sandgate::egress
