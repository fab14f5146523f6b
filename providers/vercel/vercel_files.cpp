#include <csignal>

#include "gateway/core/log.hpp"
#include "gateway/core/random.hpp"
#include "providers/byte_sources.hpp"
#include "providers/shell/shell_command.hpp"
#include "providers/vercel/vercel.hpp"
#include "providers/vercel/vercel_archive.hpp"
#include "providers/vercel/vercel_process.hpp"

// The operations of VercelProvider that are shell lines, and its file transfers.
namespace sandgate {
namespace {

constexpr size_t kVercelArchived = 4 << 20;  // per upload: an archive states its size up front

Task<void> end_vercel_root(std::shared_ptr<VercelProvider> owner, std::string id,
                           std::string process) {
  const auto outcome = co_await attempt(owner->signal(id, process, SIGKILL));
  const auto* error = std::get_if<Error>(&outcome);
  if (error && error->code != ErrorCode::not_found)
    log::warn("process not ended", {{"provider", "vercel"}, {"reason", error->what()}});
}

}  // namespace

Task<ShellProvider::LineResult> VercelProvider::run_as(std::string id, std::string line,
                                                       bool root) {
  RestCall call{.method = "POST", .path = "/cmd", .json = vercel::to_run(line, root)};
  call.deadline = std::chrono::seconds(30);
  call.silence = shell::kLineAnswer;
  auto answer = co_await stream(std::move(id), std::move(call));
  VercelLog log(std::move(answer));
  for (LineResult ran;;) {
    const auto next = co_await log.next();
    if (!next) throw Error(ErrorCode::unavailable, "vercel did not run the command");
    if (next->status) {
      ran.status = *next->status;
      co_return ran;
    }
    if (next->channel == Channel::stdout_ && ran.output.size() < kMaxPrinted)
      ran.output += next->text;
  }
}

Task<ShellProvider::LineResult> VercelProvider::run(std::string id, std::string line) {
  return run_as(std::move(id), std::move(line), /*root=*/false);
}

Task<bool> VercelProvider::either(std::string id, std::string line) {
  const LineResult ran = co_await run_as(id, line, /*root=*/false);
  if (ran.status == 0) co_return true;
  const LineResult as_root = co_await run_as(std::move(id), std::move(line), /*root=*/true);
  co_return as_root.status == 0;
}

Task<void> VercelProvider::signal(std::string id, std::string process, int number) {
  const std::string line = shell::signal_line(process, number);
  const bool told = co_await either(std::move(id), line);
  if (!told) throw Error::not_found("process", process);
}

Task<void> VercelProvider::resize(std::string id, std::string process, PtySize size) {
  const std::string line = shell::resize_line(process, size);
  const bool told = co_await either(std::move(id), line);
  if (!told) throw Error::not_found("process", process);
}

void VercelProvider::end_root(const std::string& id, const Command& command) {
  if (command.user != "root" || command.keep_on_disconnect) return;
  spawn_detached(executor(), [owner = self<VercelProvider>(), id, process = command.process_id] {
    return end_vercel_root(owner, id, process);
  });
}

Task<std::unique_ptr<ByteSource>> VercelProvider::download(std::string id, std::string path) {
  Json body{{"path", std::move(path)}};
  RestCall call{.method = "POST", .path = "/fs/read", .json = std::move(body)};
  call.takes_file();
  co_return co_await stream(std::move(id), std::move(call));
}

Task<void> VercelProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  std::string piece(kVercelArchived, '\0');
  for (const char* to = " > ";; to = " >> ") {
    const size_t filled = co_await fill(bytes, piece);
    // A header names the target directory, so it cannot be the file's own, which may contain any
    // byte.
    const vercel::Session session = co_await session_of(id);
    const std::string name = ".sandgate-" + random_hex(8);
    RestCall call{.method = "POST",
                  .path = "/fs/write",
                  .bytes = vercel::to_archive(name, std::string_view(piece).substr(0, filled)),
                  .headers = {{"Content-Type", "application/gzip"}, {"x-cwd", session.cwd}}};
    call.deadline = std::chrono::minutes(2);
    co_await this->call(id, std::move(call));
    const std::string line = "f=" + shell::quote(session.cwd + "/" + name) + "; cat \"$f\"" + to +
                             shell::quote(path) + "; s=$?; rm -f \"$f\"; exit $s";
    const LineResult ran = co_await run(id, line);
    check_written(ran);
    if (filled < piece.size()) co_return;
  }
}

}  // namespace sandgate
