#pragma once
#include <memory>
#include <mutex>

#include "providers/kubernetes/kubernetes_wire.hpp"
#include "providers/shell/live_input_provider.hpp"
#include "providers/transport/web_socket.hpp"

namespace sandgate {

struct KubernetesSettings {
  // What a sandbox is: a Sandbox resource of agent-sandbox, a plain pod, or (automatic) the former
  // if the cluster has that resource.
  enum class Form { automatic, resources, pods };

  std::string api_url;
  Form form = Form::automatic;
  kubernetes::PodRules rules;
  bool process_limit = false;  // the cluster limits the processes of a pod
  bool autoscaling = false;  // wait for a new node instead of failing when no node has room
  DescriptorLimits limits;
  Secret token;  // empty: a client certificate in `tls` is used
  std::shared_ptr<const TlsIdentity> tls;  // null: none
  bool allow_private = false;  // set for the operator's deployments
};

// A Kubernetes cluster with one pod per sandbox, named and labelled with our id. Commands run over
// WebSockets of the API server. Their text and environment are sent over stdin, so that the
// cluster's audit log does not contain them. File verbs are shell lines and streams of cat.
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

  Task<LineResult> run(std::string id, std::string line) override;
  // Starts a process in the pod and returns its connection. The cluster's audit log contains
  // `words`.
  Task<std::unique_ptr<WebSocket>> open_exec(std::string id, std::vector<std::string> words,
                                             bool pty);

 protected:
  Task<std::unique_ptr<ByteSource>> download(std::string id, std::string path) override;
  Task<void> upload(std::string id, std::string path, ByteSource& bytes) override;

 private:
  Task<std::optional<kubernetes::Box>> box_of(std::string id);
  // `resources`: of agent-sandbox, which the cluster may lack; else pods.
  Task<std::vector<kubernetes::Box>> pages(bool resources);
  RestApi& api_for(bool resources) { return resources ? extension_ : api_; }
  Task<bool> has_resource();
  Task<void> ensure_deny_policy();
  // Sends the create and returns the id of the accepted sandbox, which may not run yet.
  Task<std::string> submit_create(CreateSpec spec);
  Task<BackendSandbox> wait_until_started(std::string id);

  const KubernetesSettings settings_;
  RestApi api_;
  RestApi extension_;  // for agent-sandbox
  std::mutex mutex_;
  std::optional<bool> has_resource_;  // the last answer
  std::chrono::steady_clock::time_point asked_at_;
};

}  // namespace sandgate
