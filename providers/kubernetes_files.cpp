#include "gateway/core/ids.hpp"
#include "gateway/core/settle.hpp"
#include "providers/byte_sources.hpp"
#include "providers/kubernetes_process.hpp"
#include "providers/shell_command.hpp"

// File transfers of KubernetesProvider, as streams of cat.
namespace sandgate {
namespace {

constexpr size_t kKubeTransferPiece = 256 << 10;

Task<void> feed_kube(ProcessStream& process, ByteSource& bytes) {
  std::string piece(kKubeTransferPiece, '\0');
  for (;;) {
    const size_t count = co_await bytes.read(piece);
    if (count == 0) break;
    co_await process.write_stdin(piece.substr(0, count));
  }
  co_await process.close_stdin();
}

// Returns the exception if feeding fails; otherwise runs until cancelled.
Task<std::exception_ptr> failure_of_feeding(ProcessStream& process, ByteSource& bytes) {
  try {
    co_await feed_kube(process, bytes);
  } catch (...) {
    co_return std::current_exception();
  }
  co_await linger(sleep_for(std::chrono::seconds(0)));
  co_return nullptr;
}

}  // namespace

Task<std::unique_ptr<ByteSource>> KubernetesProvider::download(std::string id, std::string path) {
  Command command{.argv = {"cat", "--", std::move(path)}, .process_id = ProcessId::make().value};
  auto process =
      co_await start_process<KubernetesProcess, KubernetesProvider>(id, std::move(command));
  co_return std::make_unique<PrintedBytes>(std::move(process));
}

Task<void> KubernetesProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  using namespace asio::experimental::awaitable_operators;
  Command command{.shell = "cat > " + shell::quote(path), .process_id = ProcessId::make().value};
  const auto process =
      co_await start_process<KubernetesProcess, KubernetesProvider>(id, std::move(command));
  Settled<Ran> settled;
  auto race = settle(read_to_end(*process), settled) || failure_of_feeding(*process, bytes);
  auto winner = co_await std::move(race);
  if (winner.index() == 1) std::rethrow_exception(std::get<1>(winner));
  const Ran ran = settled.take();
  if (ran.status != 0) throw Error(ErrorCode::invalid, "the sandbox refused the file");
}

}  // namespace sandgate
