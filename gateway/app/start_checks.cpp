#include "gateway/app/start_checks.hpp"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gateway/app/machine_name.hpp"
#include "gateway/app/node_settings.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/http/bind.hpp"
#include "gateway/http/tls.hpp"
#include "local/egress/address_policy.hpp"
#include "local/node/machine/volatile_directory.hpp"
#include "registry/profile_channel.hpp"

namespace sandgate {
namespace {

namespace fs = std::filesystem;

// A server that was just killed may still hold its address.
constexpr std::chrono::seconds kBindTimeout{3};

// Whether the account has this permission (S_IROTH or S_IXOTH). Accepts the group bits without
// checking membership, because they also represent access control lists.
bool may(const SystemAccount& account, const std::string& path, mode_t bit) {
  struct stat status {};
  if (account.uid == 0 || stat(path.c_str(), &status) != 0) return true;
  if (status.st_uid == account.uid) return (status.st_mode & (bit << 6)) != 0;
  return (status.st_mode & (bit | bit << 3)) != 0;
}

// Returns the first parent directory of `path` that the account cannot enter; empty if none.
std::string closed_parent(const SystemAccount& account, const std::string& path) {
  fs::path parent = "/";
  for (const fs::path& name : fs::path(path).parent_path().relative_path()) {
    parent /= name;
    if (!may(account, parent, S_IXOTH)) return parent;
  }
  return "";
}

void check_home(const Config& config, const SystemAccount& account, Problems& problems) {
  const bool agents_below = config.local.enabled && !has_volatile_memory();
  const std::string longest = agents_below ? sandboxes_dir(node_settings(config)) + "/" +
                                                 SandboxId::make().value + "/agent.sock"
                                           : config.postgres_socket() + "/.s.PGSQL.5432";
  const size_t room = sizeof(sockaddr_un{}.sun_path) - 1;
  if (longest.size() > room)
    problems.add("/home", "is too long for the sockets below it: use a path of at most " +
                              std::to_string(room - (longest.size() - config.home.size())) +
                              " bytes");
  const std::string closed = closed_parent(account, config.home);
  if (!closed.empty())
    problems.add("/home", "account '" + account.name + "' cannot pass " + closed +
                              ": run 'chmod o+x " + closed + "' or use another home");
  if (fs::exists(config.home) && !fs::is_directory(config.home))
    problems.add("/home", config.home + " is not a directory");
}

void check_master_key(const Config& config, Problems& problems) {
  const std::string path = config.master_key_file();
  if (!config.master_key.empty()) return;
  if (!fs::exists(fs::symlink_status(path))) {
    // A first start makes the key before the database.
    if (config.database.url.empty() && fs::exists(config.postgres_data()))
      problems.add("/master_key",
                   path +
                       " is gone, and with it what it sealed in the database: bring it back "
                       "from a copy, or set SANDGATE_MASTER_KEY (64 new hex digits and "
                       "master_key_lost give up the credentials and secrets stored so far)");
    return;
  }
  std::string hex;
  if (fs::is_regular_file(path)) std::ifstream(path) >> hex;
  const auto bytes = from_hex(hex);
  if (!bytes || bytes->size() != 32)
    problems.add("/master_key", path +
                                    " does not hold the 64 hex digits it was made with: bring it "
                                    "back from a copy, or set SANDGATE_MASTER_KEY");
}

void check_machine(const Config& config, Problems& problems) {
  try {
    known_machine(config.machine_file());
  } catch (const Error& error) {
    problems.add("/home", error.what());
  }
}

void check_listening(const Config& config, const SystemAccount& account, Problems& problems) {
  asio::io_context loop(1);
  std::vector<asio::ip::tcp::acceptor> held;  // so that one address for both is found
  for (const Config::Listener& one : config.listeners()) {
    try {
      held.push_back(http::bind_listener(loop, one.address, one.port, kBindTimeout));
    } catch (const Error& error) {
      problems.add(one.setting, error.what());
    }
  }
  if (config.tls.certificate.empty()) return;
  for (const auto& [setting, file] : {std::pair("/tls/certificate", config.tls.certificate),
                                      std::pair("/tls/key", config.tls.key)})
    if (!may(account, file, S_IROTH) || !closed_parent(account, file).empty())
      problems.add(setting, "account '" + account.name + "' cannot read " + file +
                                ": give it the right, or name a copy that it can read");
  try {
    http::TlsIdentity identity({config.tls.certificate, config.tls.key});
  } catch (const Error& error) {
    problems.add("/tls", error.what());
  }
}

void check_programs(const Config& config, Problems& problems) {
  const std::string beside = fs::read_symlink("/proc/self/exe").parent_path() / "sandgate-agent";
  const std::string agent = config.local.agent.empty() ? beside : config.local.agent;
  if (!fs::is_regular_file(agent) || access(agent.c_str(), X_OK) != 0)
    problems.add("/local/agent", agent +
                                     " is not a program: name sandgate-agent, which is installed "
                                     "beside sandgate");
  const std::string& images = config.local.images;
  if (!images.empty() && !images.starts_with("/"))
    problems.add("/local/images", "'" + images + "' must be an absolute path");
  else if (!images.empty() && fs::exists(images) && !fs::is_directory(images))
    problems.add("/local/images", images + " is not a directory: name one, which may be missing");
}

// Whether it is what browsers send: a scheme, a host and perhaps a port.
bool is_page_origin(const std::string& text) {
  for (const std::string scheme : {"http://", "https://"})
    if (text.starts_with(scheme))
      return text.size() > scheme.size() && text.find('/', scheme.size()) == std::string::npos;
  return false;
}

void check_mcp(const Config& config, Problems& problems) {
  const std::string& profile = config.mcp.profile;
  if (!profile.empty() && !profile_reference_from(profile))
    problems.add("/mcp/profile", "'" + profile + "' is no profile: name one, as name or name@3");
  std::istringstream origins(config.mcp.origins);
  for (std::string one; std::getline(origins, one, ',');) {
    std::erase(one, ' ');
    if (!one.empty() && !is_page_origin(one))
      problems.add("/mcp/origins",
                   "'" + one + "' is no origin, such as https://app.example.com, without a path");
  }
}

// Checks the text of the setting, even if local sandboxes are disabled.
void check_blocks(const NodeSettings& node, Problems& problems) {
  for (const std::string& block : node.private_cidrs) try {
      egress::AddressPolicy reachable(std::vector<std::string>{block});
    } catch (const Error&) {
      problems.add("/local/egress/private_cidrs",
                   "'" + block + "' is not a block, such as 10.1.0.0/16 or fd00::/8");
    }
}

void check_authorities(const Config& config, Problems& problems) {
  const std::string& authorities = config.local.egress.authorities;
  if (authorities.empty()) return;
  asio::ssl::context trusting(asio::ssl::context::tls_client);
  boost::system::error_code failure;
  trusting.load_verify_file(authorities, failure);
  if (failure)
    problems.add("/local/egress/authorities",
                 authorities + " has no certificate that can be read: name a PEM file");
}

void check_workspaces(const NodeSettings& node, Problems& problems) {
  for (const std::string& one : node.workspaces)
    if (!one.starts_with("/"))
      problems.add("/local/workspaces", "'" + one + "' must be an absolute path");
    else if (!fs::is_directory(one))
      problems.add("/local/workspaces", one + " is not a directory: make it or leave it out");
}

}  // namespace

void check_start(const Config& config, const SystemAccount& account) {
  Problems problems;
  check_home(config, account, problems);
  check_master_key(config, problems);
  check_machine(config, problems);
  check_listening(config, account, problems);
  check_mcp(config, problems);
  const NodeSettings node = node_settings(config);
  check_blocks(node, problems);
  if (config.local.enabled) {
    check_programs(config, problems);
    check_authorities(config, problems);
    check_workspaces(node, problems);
  }
  problems.throw_if_any();
}

}  // namespace sandgate
