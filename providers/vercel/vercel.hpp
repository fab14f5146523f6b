#pragma once
#include <memory>

#include "providers/sandbox_data_cache.hpp"
#include "providers/shell/shell_provider.hpp"
#include "providers/vercel/vercel_wire.hpp"

namespace sandgate {

struct VercelSettings {
  std::string api_url = "https://api.vercel.com";
  std::string team;  // the id ("team_…") or the slug
  vercel::CreateRules rules;
  DescriptorLimits limits;
  Secret token;
  bool allow_private = false;  // set for the operator's deployments
};

// Vercel Sandbox. Our id is the sandbox's unique name and its tag sandgate_id. Commands run in its
// current session, whose id changes with every resume. Output is text: bytes that are not UTF-8 are
// lost, except in terminals. File verbs other than transfers are shell lines.
class VercelProvider : public ShellProvider {
 public:
  VercelProvider(HttpClient& http, asio::any_io_executor executor, VercelSettings settings);

  Descriptor descriptor() const override;
  Resources granted(const Resources& asked) const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;
  Task<std::unique_ptr<ProcessStream>> attach(std::string id, std::string process,
                                              uint64_t from) override;
  Task<std::vector<ProcessInfo>> processes(std::string id) override;
  Task<void> signal(std::string id, std::string process, int number) override;
  Task<void> resize(std::string id, std::string process, PtySize size) override;

  Task<Keeps> pause(std::string id, Keeps keep) override;
  Task<void> resume(std::string id) override;
  Task<BackendSnapshot> snapshot(std::string id, std::string snapshot_id, Keeps keep,
                                 bool lasting) override;
  Task<std::optional<BackendSnapshot>> find_snapshot(std::string snapshot_id) override;
  Task<void> remove_snapshot(std::string snapshot) override;

  Task<void> extend(std::string id, std::chrono::seconds ttl) override;

  Task<LineResult> run(std::string id, std::string line) override;
  // Makes a call about the current session; `path` is what follows the session's path. Throws
  // Error(not_found) for a missing sandbox or resource, Error(conflict) if the sandbox is paused.
  Task<Json> call(std::string id, RestCall call);
  Task<std::unique_ptr<HttpStream>> stream(std::string id, RestCall call);
  Task<vercel::Session> session_of(std::string id);
  // Kills a dropped process of root, which run() may not signal.
  void end_root(const std::string& id, const Command& command);
  bool allow_private() const { return settings_.allow_private; }
  // Whether the sandbox's credentials may be sent to that address.
  bool is_trusted_url(const std::string& url) const { return may_have_key(url, settings_.api_url); }

 protected:
  Task<std::unique_ptr<ByteSource>> download(std::string id, std::string path) override;
  Task<void> upload(std::string id, std::string path, ByteSource& bytes) override;

 private:
  template <class R>
  Task<R> in_session(std::string id, RestCall call, Task<R> (RestApi::*send)(RestCall));
  std::string named(const std::string& id) const;
  std::string with_team(std::string path) const;
  std::string session_path(const std::string& session, const std::string& tail) const;
  Task<LineResult> run_as(std::string id, std::string line, bool root);
  // Runs the line as the account and, if that fails, as root. Returns whether one succeeded.
  Task<bool> either(std::string id, std::string line);
  // `resume`: also starts a stopped sandbox.
  Task<std::optional<vercel::Box>> box_of(std::string id, bool resume = false);
  // Also empty if a sandbox with that name was not made by Sandgate.
  Task<std::optional<vercel::Box>> box_named(std::string sandbox_id);
  Task<vercel::Box> running(vercel::Box box);
  Task<std::vector<vercel::Listed>> commands(std::string id);
  Task<vercel::Listed> find_command(std::string id, std::string process);
  Task<uint64_t> length_of(std::string id, std::string command_id);
  Task<void> update(std::string id, Json fields);
  void remember(const vercel::Box& box);

  const VercelSettings settings_;
  RestApi api_;
  SandboxDataCache<vercel::Session> sessions_;
};

}  // namespace sandgate
