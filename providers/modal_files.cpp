#include "gateway/core/ids.hpp"
#include "providers/growing_pause.hpp"
#include "providers/modal.hpp"
#include "providers/modal_process.hpp"

// What goes in and out of programs, and the transfers of files that are made of it.
namespace sandgate {
namespace {

constexpr size_t kInputPiece = 1 << 20;
constexpr int kMaxExitFailures = 5;
constexpr auto kWaitDeadline = std::chrono::seconds(60);

// What a program prints, which must end well.
class ModalPrinted : public ByteSource {
 public:
  explicit ModalPrinted(std::unique_ptr<ModalProcess> process) : process_(std::move(process)) {}

  Task<size_t> read(std::span<char> into) override {
    while (taken_ == piece_.size() && !ended_) co_await refill();
    const size_t count = piece_.copy(into.data(), into.size(), taken_);
    taken_ += count;
    co_return count;
  }

 private:
  Task<void> refill() {
    auto event = co_await process_->next();
    if (!event) throw Error(ErrorCode::unavailable, "the process was lost");
    if (auto* chunk = std::get_if<OutputChunk>(&*event)) {
      if (chunk->channel != Channel::stdout_) co_return;
      piece_ = std::move(chunk->bytes);
      taken_ = 0;
      co_return;
    }
    ended_ = true;
    if (std::get<ProcessExit>(*event).exit_code != 0)
      throw Error(ErrorCode::unavailable, "the file could not be read to its end");
  }

  const std::unique_ptr<ModalProcess> process_;
  std::string piece_;
  size_t taken_ = 0;
  bool ended_ = false;
};

}  // namespace

Task<int> ModalProvider::wait_for_exit(std::string id, std::string exec) {
  const std::string task = co_await routers_.task(id);
  const std::string asked = modal::to_exec(task, exec);
  int failures = 0;
  for (GrowingPause pause;;) {
    auto outcome = co_await attempt(routers_.call(id, "TaskExecWait", asked, kWaitDeadline));
    const auto* error = std::get_if<Error>(&outcome);
    if (!error) co_return modal::from_exit(std::get<std::string>(outcome));
    const bool broken = error->code == ErrorCode::unavailable && !are_credentials_refused(*error);
    const bool late = error->code == ErrorCode::timeout;
    if (!late && (!broken || ++failures > kMaxExitFailures)) throw *error;
    co_await pause.wait();
  }
}

Task<void> ModalProvider::put(std::string id, std::string exec, uint64_t offset, std::string bytes,
                              bool last) {
  const std::string task = co_await routers_.task(id);
  std::string asked = modal::to_input(task, exec, offset, bytes, last);
  const auto outcome = co_await attempt(routers_.call(id, "TaskExecStdinWrite", std::move(asked)));
  const auto* error = std::get_if<Error>(&outcome);
  // As with a pipe whose reader has gone, but that no signal follows.
  if (error && error->code != ErrorCode::conflict) throw *error;
}

Task<void> ModalProvider::feed(std::string id, std::string exec, std::string bytes, bool last) {
  const std::string task = co_await routers_.task(id);
  std::string asked = modal::to_exec(task, exec);
  const std::string reply = co_await routers_.call(id, "TaskExecStdinStatus", std::move(asked));
  const uint64_t written = modal::from_written(reply);
  for (size_t at = 0; at < bytes.size(); at += kInputPiece) {
    std::string piece = bytes.substr(at, kInputPiece);
    co_await put(id, exec, written + at, std::move(piece), /*last=*/false);
  }
  if (last) co_await put(id, exec, written + bytes.size(), "", /*last=*/true);
}

Task<ShellProvider::Ran> ModalProvider::run(std::string id, std::string line) {
  const std::string exec = modal::uuid_of(ProcessId::make().value);
  const std::string task = co_await routers_.task(id);
  std::string asked = modal::to_line(task, exec, line);
  co_await routers_.call(id, "TaskExecStart", std::move(asked));
  ModalOutput printed(self<ModalProvider>(), id, exec, Channel::stdout_);
  Ran ran;
  for (;;) {
    const auto piece = co_await printed.next();
    if (!piece) break;
    if (ran.output.size() < kMaxPrinted) ran.output += *piece;
  }
  ran.status = co_await wait_for_exit(id, exec);
  co_return ran;
}

Task<std::unique_ptr<ByteSource>> ModalProvider::download(std::string id, std::string path) {
  Command command{.argv = {"cat", "--", std::move(path)}, .process_id = ProcessId::make().value};
  auto process = std::make_unique<ModalProcess>(self<ModalProvider>(), id, std::move(command));
  co_await process->start();
  co_return std::make_unique<ModalPrinted>(std::move(process));
}

Task<void> ModalProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  Command command{.argv = {"/bin/sh", "-c", "exec cat >\"$0\"", std::move(path)},
                  .process_id = ProcessId::make().value};
  ModalProcess process(self<ModalProvider>(), id, std::move(command));
  co_await process.start();
  std::string piece(kInputPiece, '\0');
  uint64_t sent = 0;
  for (bool last = false; !last;) {
    size_t filled = 0;
    for (size_t count = 1; count > 0 && filled < piece.size(); filled += count)
      count = co_await bytes.read(std::span(piece).subspan(filled));
    last = filled < piece.size();
    co_await put(id, process.exec_id(), sent, piece.substr(0, filled), last);
    sent += filled;
  }
  const Ran ran = co_await read_to_end(process);
  if (ran.status != 0) throw Error(ErrorCode::invalid, "the sandbox refused the file");
}

}  // namespace sandgate
