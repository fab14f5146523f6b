#include "gateway/core/ids.hpp"
#include "gateway/core/settle.hpp"
#include "providers/kubernetes_process.hpp"
#include "providers/shell_command.hpp"

// The transfers of KubernetesProvider: streams of cat.
namespace sandgate {
namespace {

constexpr size_t kKubeTransferPiece = 256 << 10;

// What a process prints, as bytes; fails when it does.
class KubernetesFileBytes : public ByteSource {
 public:
  explicit KubernetesFileBytes(std::unique_ptr<ProcessStream> process)
      : process_(std::move(process)) {}

  Task<size_t> read(std::span<char> into) override {
    while (taken_ == piece_.size() && !ended_) co_await refill();
    const size_t count = piece_.copy(into.data(), into.size(), taken_);
    taken_ += count;
    co_return count;
  }

 private:
  Task<void> refill() {
    auto event = co_await process_->next();
    const auto* exit = event ? std::get_if<ProcessExit>(&*event) : nullptr;
    if (!event || (exit && exit->exit_code != 0))
      throw Error(ErrorCode::unavailable, "the sandbox broke the file off");
    piece_.clear();
    taken_ = 0;
    ended_ = exit != nullptr;
    if (ended_) co_return;
    auto& chunk = std::get<OutputChunk>(*event);
    if (chunk.channel == Channel::stdout_) piece_ = std::move(chunk.bytes);
  }

  const std::unique_ptr<ProcessStream> process_;
  std::string piece_;
  size_t taken_ = 0;
  bool ended_ = false;
};

Task<void> feed_kube(ProcessStream& process, ByteSource& bytes) {
  std::string piece(kKubeTransferPiece, '\0');
  for (;;) {
    const size_t count = co_await bytes.read(piece);
    if (count == 0) break;
    co_await process.write_stdin(piece.substr(0, count));
  }
  co_await process.close_stdin();
}

// Ends when the task fails, and otherwise not before it is cancelled.
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
      std::make_unique<KubernetesProcess>(self<KubernetesProvider>(), id, std::move(command));
  co_await process->start();
  co_return std::make_unique<KubernetesFileBytes>(std::move(process));
}

Task<void> KubernetesProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  using namespace asio::experimental::awaitable_operators;
  Command command{.shell = "cat > " + shell::quote(path), .process_id = ProcessId::make().value};
  KubernetesProcess process(self<KubernetesProvider>(), id, std::move(command));
  co_await process.start();
  Settled<Ran> settled;
  auto race = settle(read_to_end(process), settled) || failure_of_feeding(process, bytes);
  auto winner = co_await std::move(race);
  if (winner.index() == 1) std::rethrow_exception(std::get<1>(winner));
  const Ran ran = settled.take();
  if (ran.status != 0) throw Error(ErrorCode::invalid, "the sandbox refused the file");
}

}  // namespace sandgate
