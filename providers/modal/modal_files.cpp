#include "gateway/core/ids.hpp"
#include "providers/byte_sources.hpp"
#include "providers/modal/modal.hpp"
#include "providers/modal/modal_process.hpp"
#include "providers/retries.hpp"

// Program input and output of ModalProvider, and file transfers based on them.
namespace sandgate {
namespace {

constexpr size_t kInputPiece = 1 << 20;
constexpr std::chrono::milliseconds kTicketPoll{5};
constexpr auto kWaitDeadline = std::chrono::seconds(60);

}  // namespace

Task<std::optional<int>> ModalProvider::exit_of(std::string id, std::string exec) {
  const std::string task = co_await routers_.task(id);
  std::string asked = modal::to_exec(task, exec);
  auto waiting = routers_.call(id, "TaskExecWait", std::move(asked), kWaitDeadline);
  const auto outcome = co_await attempt(std::move(waiting));
  const auto* error = std::get_if<Error>(&outcome);
  if (!error) co_return modal::from_exit(std::get<std::string>(outcome));
  // The program runs longer than a call may last.
  if (error->code == ErrorCode::timeout) co_return std::nullopt;
  throw *error;
}

Task<int> ModalProvider::wait_for_exit(std::string id, std::string exec) {
  auto ask = [this, id, exec] { return exit_of(id, exec); };
  co_return co_await wait_for_status(std::move(ask));
}

Task<void> ModalProvider::put(std::string id, std::string exec, uint64_t offset, std::string bytes,
                              bool last) {
  const std::string task = co_await routers_.task(id);
  std::string asked = modal::to_input(task, exec, offset, bytes, last);
  const auto outcome = co_await attempt(routers_.call(id, "TaskExecStdinWrite", std::move(asked)));
  const auto* error = std::get_if<Error>(&outcome);
  if (error && error->code != ErrorCode::conflict) throw *error;
  if (!error || bytes.empty()) co_return;
  // The program closed its stdin: the bytes are dropped, unless another client wrote at the offset.
  const uint64_t written = co_await written_to(id, exec);
  if (written != offset && written != offset + bytes.size())
    throw Error(ErrorCode::conflict, "other input was written to the program at the same time");
}

Task<uint64_t> ModalProvider::written_to(std::string id, std::string exec) {
  const std::string task = co_await routers_.task(id);
  std::string asked = modal::to_exec(task, exec);
  const std::string reply = co_await routers_.call(id, "TaskExecStdinStatus", std::move(asked));
  co_return modal::from_written(reply);
}

Task<void> ModalProvider::feed(std::string id, std::string exec, std::string bytes, bool last) {
  // Input is written at an offset, so concurrent writers would overwrite each other.
  const KeyedTicketLock::Ticket ticket(inputs_, exec);
  for (Backoff pause(kTicketPoll); !ticket.is_holder();) co_await pause.wait();
  const uint64_t written = co_await written_to(id, exec);
  for (size_t at = 0; at < bytes.size(); at += kInputPiece) {
    std::string piece = bytes.substr(at, kInputPiece);
    co_await put(id, exec, written + at, std::move(piece), /*last=*/false);
  }
  if (last) co_await put(id, exec, written + bytes.size(), "", /*last=*/true);
}

Task<ShellProvider::LineResult> ModalProvider::run(std::string id, std::string line) {
  const std::string exec = modal::uuid_of(ProcessId::make().value);
  const std::string task = co_await routers_.task(id);
  std::string asked = modal::to_line(task, exec, line);
  co_await routers_.call(id, "TaskExecStart", std::move(asked));
  ModalOutput printed(self<ModalProvider>(), id, exec, Channel::stdout_);
  LineResult ran;
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
  auto process = co_await start_process<ModalProcess, ModalProvider>(id, std::move(command));
  co_return std::make_unique<StdoutBytes>(std::move(process));
}

Task<void> ModalProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  Command command{.argv = {"/bin/sh", "-c", "exec cat >\"$0\"", std::move(path)},
                  .process_id = ProcessId::make().value};
  const auto process = co_await start_process<ModalProcess, ModalProvider>(id, std::move(command));
  std::string piece(kInputPiece, '\0');
  uint64_t sent = 0;
  for (bool last = false; !last;) {
    const size_t filled = co_await fill(bytes, piece);
    last = filled < piece.size();
    co_await put(id, process->exec_id(), sent, piece.substr(0, filled), last);
    sent += filled;
  }
  const LineResult ran = co_await read_to_end(*process);
  check_written(ran);
}

}  // namespace sandgate
