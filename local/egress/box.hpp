#pragma once
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "gateway/core/json_reader.hpp"
#include "gateway/core/time.hpp"
#include "local/egress/authority.hpp"
#include "local/egress/byte_count.hpp"
#include "local/egress/descriptor_room.hpp"
#include "local/egress/lookups.hpp"
#include "local/egress/mask.hpp"
#include "local/egress/policy.hpp"
#include "local/egress/reachable.hpp"
#include "local/egress/secret_header.hpp"
#include "local/egress/stream.hpp"
#include "local/egress/synthetic_names.hpp"
#include "local/namespaces/fd.hpp"

namespace sandgate::egress {

// What all sandboxes of the process share. One thread runs everything but the looking up of names.
struct Surroundings {
  asio::io_context& loop;
  Lookups& lookups;
  std::shared_ptr<DescriptorRoom> descriptors;
  Reachable reachable;
  asio::ssl::context& upstream_tls;  // trusts the public authorities
};

// One judgement, for the sandbox's log.
struct Verdict {
  Time at;
  std::string target;  // "host:port", or a name that was asked for
  std::string_view way;  // dns, connect, http, tls, tcp
  bool allowed = false;
  std::string_view reason;  // one word when refused
};
Json to_json(const Verdict& verdict);

// The sockets that listen inside a sandbox. Some may be missing.
struct Doors {
  Fd dns_udp, dns_tcp, proxy, any;  // `any` takes every connection to a routed address
};

class Box;

// One connection out of a sandbox, from accept to end.
struct Connection {
  Connection(std::shared_ptr<Box> box, Socket client);
  ~Connection();
  Connection(const Connection&) = delete;

  void cut();  // closes both sides; whoever waits on them goes on with an error
  void touch(std::chrono::seconds patience);  // it is cut unless touched again by then
  void count_sent(size_t bytes);  // by the sandbox; what it is sent is not egress

  std::shared_ptr<Box> box;
  Socket client, upstream;
  std::optional<Target> target;  // once judged
  std::chrono::steady_clock::time_point deadline;
  bool ended = false;
};

// One sandbox: its doors, its policy, and the connections it has. All on the loop's thread.
class Box : public std::enable_shared_from_this<Box> {
 public:
  // Throws StepError.
  Box(Surroundings& around, std::string id, std::string tenant, Policy policy, Fd byte_count);
  ~Box();

  void open(Doors doors);  // begins to serve
  void close();  // cuts everything; the sandbox is gone
  void set_policy(Policy policy);  // connections that it does not allow are cut
  void set_secrets(SecretGrants secrets);

  // Judges and writes the verdict down.
  bool judge(const Target& target, std::string_view way);
  void note(std::string target, std::string_view way, bool allowed, std::string_view reason);

  const std::string& id() const { return id_; }
  const std::string& tenant() const { return tenant_; }
  const Policy& policy() const { return policy_; }
  Surroundings& around() { return around_; }
  SyntheticNames& names() { return names_; }
  const SecretGrants& secrets() const { return secrets_; }
  // As put_secrets() of secret_header.hpp; `hidden` are also all values that the host may know, of
  // this request or an earlier one.
  PlacedSecrets put_secrets(RequestHead& head, const std::string& host);
  Authority& authority();
  const std::deque<Verdict>& verdicts() const { return verdicts_; }

 private:
  friend struct Connection;
  using Acceptor = asio::ip::tcp::acceptor;
  using Talk = Task<void> (*)(std::shared_ptr<Connection>);

  bool has_room() const;
  Task<void> welcome(std::shared_ptr<Acceptor> acceptor, Talk talk);
  static Task<void> converse(std::shared_ptr<Connection> connection, Talk talk);
  Task<void> patrol();
  void serve_on(Fd listener, bool v6, Talk talk);

  Surroundings& around_;
  const std::shared_ptr<DescriptorRoom> descriptors_;
  const std::string id_, tenant_;
  Policy policy_;
  SecretGrants secrets_;
  std::map<std::string, Needles> needles_;  // of hosts spoken to since secrets_ changed
  SyntheticNames names_;
  std::unique_ptr<Authority> authority_;  // made when first needed
  std::set<Connection*> connections_;
  std::vector<std::shared_ptr<Acceptor>> acceptors_;
  std::shared_ptr<asio::ip::udp::socket> dns_;
  asio::steady_timer room_;  // cancelled when there may be room for a connection
  asio::steady_timer patrol_;
  std::deque<Verdict> verdicts_;
  std::chrono::steady_clock::time_point log_window_;
  int logged_ = 0;
  ByteCount bytes_;
  bool closed_ = false;
};

}  // namespace sandgate::egress
