#pragma once
#include <memory>
#include <mutex>

#include "providers/kubernetes_wire.hpp"
#include "providers/live_input_provider.hpp"
#include "providers/web_socket.hpp"

namespace sandgate {

struct KubernetesSettings {
  // What sandboxes are: Sandbox resources of agent-sandbox, plain pods, or the first where the
  // cluster has them.
  enum class Form { automatic, resources, pods };

  std::string api_url;
  Form form = Form::automatic;
  kubernetes::PodRules rules;
  bool process_limit = false;  // the cluster bounds the processes of a pod
  bool autoscaling = false;  // a node for what has no room may come
  DescriptorLimits limits;
  Secret token;  // or a certificate
  std::shared_ptr<const TlsIdentity> tls;  // null: none
  bool allow_private = false;  // an operator's deployment
};

// A Kubernetes cluster: one pod for each sandbox, named and labelled with our id. Commands run over
// WebSockets of the API server, with their text and environment on stdin, so that none of it stands
// in the cluster's audit log; the file verbs are shell lines and streams of cat.
class KubernetesProvider : public LiveInputProvider {
 public:
  KubernetesProvider(HttpClient& http, asio::any_io_executor executor, KubernetesSettings settings);

  Descriptor descriptor() const override;
  Task<BackendSandbox> create(CreateSpec spec) override;
  Task<std::optional<BackendSandbox>> find(std::string id) override;
  Task<std::optional<BackendSandbox>> find_by_tag(std::string sandbox_id) override;
  Task<std::vector<BackendSandbox>> list() override;
  Task<void> kill(std::string id) override;

  Task<std::unique_ptr<ProcessStream>> exec(std::string id, Command command) override;

  Task<void> extend(std::string id, std::chrono::seconds ttl) override;

  Task<Ran> run(std::string id, std::string line) override;
  // A connection to a new process in the pod; its words stand in the cluster's audit log.
  Task<std::unique_ptr<WebSocket>> open_exec(std::string id, std::vector<std::string> words,
                                             bool pty);

 protected:
  Task<std::unique_ptr<ByteSource>> download(std::string id, std::string path) override;
  Task<void> upload(std::string id, std::string path, ByteSource& bytes) override;

 private:
  Task<std::optional<kubernetes::Box>> box_of(std::string id);
  Task<std::vector<kubernetes::Box>> pages(std::string path);
  Task<bool> has_resource();
  Task<void> ensure_deny_policy();
  // Creates it; the id of what was accepted and does not run yet.
  Task<std::string> accepted(CreateSpec spec);
  Task<BackendSandbox> started(std::string id);

  const KubernetesSettings settings_;
  RestApi api_;
  std::mutex mutex_;
  std::optional<bool> has_resource_;  // as last asked
  std::chrono::steady_clock::time_point asked_at_;
};

}  // namespace sandgate
