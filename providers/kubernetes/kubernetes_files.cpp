#include "gateway/core/ids.hpp"
#include "providers/byte_sources.hpp"
#include "providers/kubernetes/kubernetes_process.hpp"
#include "providers/shell/shell_command.hpp"

// File transfers of KubernetesProvider, as streams of cat.
namespace sandgate {

Task<std::unique_ptr<ByteSource>> KubernetesProvider::download(std::string id, std::string path) {
  Command command{.argv = {"cat", "--", std::move(path)}, .process_id = ProcessId::make().value};
  auto process =
      co_await start_process<KubernetesProcess, KubernetesProvider>(id, std::move(command));
  co_return std::make_unique<StdoutBytes>(std::move(process));
}

Task<void> KubernetesProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  Command command{.shell = "cat > " + shell::quote(path), .process_id = ProcessId::make().value};
  const auto process =
      co_await start_process<KubernetesProcess, KubernetesProvider>(id, std::move(command));
  co_await feed_to_end(*process, bytes);
}

}  // namespace sandgate
