#include "gateway/core/ids.hpp"
#include "providers/byte_sources.hpp"
#include "providers/northflank_process.hpp"
#include "providers/shell_command.hpp"

// File transfers of NorthflankProvider: the output or input of a command.
namespace sandgate {
namespace {

constexpr size_t kNorthflankPiece = 192 << 10;

// With a process id, so that an abandoned transfer is killed in the sandbox too.
Command northflank_transfer(std::string line) {
  return {.shell = std::move(line), .process_id = ProcessId::make().value};
}

}  // namespace

Task<std::unique_ptr<ByteSource>> NorthflankProvider::download(std::string id, std::string path) {
  Command command = northflank_transfer("cat -- " + shell::quote(path));
  auto process = co_await start_process<NorthflankProcess, NorthflankProvider>(std::move(id),
                                                                               std::move(command));
  co_return std::make_unique<PrintedBytes>(std::move(process));
}

Task<void> NorthflankProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  Command command = northflank_transfer("cat > " + shell::quote(path));
  const auto process = co_await start_process<NorthflankProcess, NorthflankProvider>(
      std::move(id), std::move(command));
  std::string piece(kNorthflankPiece, '\0');
  for (;;) {
    const size_t count = co_await bytes.read(piece);
    if (count == 0) break;
    std::string taken = piece.substr(0, count);
    co_await process->write_stdin(std::move(taken));
  }
  co_await process->close_stdin();
  const Ran ran = co_await read_to_end(*process);
  if (ran.status != 0) throw Error(ErrorCode::invalid, "the sandbox refused the file");
}

}  // namespace sandgate
