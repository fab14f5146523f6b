#include "gateway/core/ids.hpp"
#include "providers/byte_sources.hpp"
#include "providers/northflank/northflank_process.hpp"
#include "providers/shell/shell_command.hpp"

// File transfers of NorthflankProvider: the output or input of a command.
namespace sandgate {
namespace {

// With a process id, so that an abandoned transfer is killed in the sandbox too.
Command northflank_transfer(std::string line) {
  return {.shell = std::move(line), .process_id = ProcessId::make().value};
}

}  // namespace

Task<std::unique_ptr<ByteSource>> NorthflankProvider::download(std::string id, std::string path) {
  Command command = northflank_transfer("cat -- " + shell::quote(path));
  auto process = co_await start_process<NorthflankProcess, NorthflankProvider>(std::move(id),
                                                                               std::move(command));
  co_return std::make_unique<StdoutBytes>(std::move(process));
}

Task<void> NorthflankProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  Command command = northflank_transfer("cat > " + shell::quote(path));
  const auto process = co_await start_process<NorthflankProcess, NorthflankProvider>(
      std::move(id), std::move(command));
  co_await feed_to_end(*process, bytes);
}

}  // namespace sandgate
