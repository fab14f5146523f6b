#include "providers/opensandbox/opensandbox.hpp"
#include "providers/opensandbox/opensandbox_process.hpp"
#include "providers/transport/event_stream.hpp"

// The commands of OpenSandboxProvider. run() uses execd's call for commands, which returns text
// only and has no stdin.
namespace sandgate {
namespace {

constexpr int64_t kRunMilliseconds = 60'000;
constexpr size_t kCommandRead = 64 << 10;

}  // namespace

Task<ShellProvider::Ran> OpenSandboxProvider::run(std::string id, std::string line) {
  RestApi inside = co_await execd(id);
  Json body{{"command", "cd; " + line}, {"timeout", kRunMilliseconds}};
  RestCall call{.method = "POST",
                .path = "/command",
                .json = std::move(body),
                .headers = {{"Accept", "text/event-stream"}}};
  call.deadline = std::chrono::seconds(30);
  call.silence = std::chrono::seconds(60);
  const auto stream = co_await inside.stream(std::move(call));
  LineSplitter lines;
  Ran ran;
  std::string piece(kCommandRead, '\0');
  for (;;) {
    const size_t count = co_await stream->read(piece);
    if (count == 0) throw Error(ErrorCode::unavailable, "opensandbox lost the command");
    lines.add(std::string_view(piece).substr(0, count));
    while (const auto next = lines.next()) {
      const auto event = opensandbox::to_event(*next);
      ran.status = event.status;
      if (event.kind == opensandbox::CommandEvent::ended) co_return ran;
      if (event.kind != opensandbox::CommandEvent::output) continue;
      if (ran.output.size() < kMaxPrinted) ran.output += event.text + "\n";
    }
  }
}

Task<std::unique_ptr<ProcessStream>> OpenSandboxProvider::exec(std::string id, Command command) {
  refuse_account(command);
  co_await check_directory(id, command);
  co_return co_await start_process<OpenSandboxProcess, OpenSandboxProvider>(std::move(id),
                                                                            std::move(command));
}

}  // namespace sandgate
