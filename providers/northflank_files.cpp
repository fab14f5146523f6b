#include "gateway/core/ids.hpp"
#include "providers/northflank_process.hpp"
#include "providers/shell_command.hpp"

// The transfers of NorthflankProvider: a command's output, and its input.
namespace sandgate {
namespace {

constexpr size_t kNorthflankPiece = 192 << 10;

class NorthflankFileBytes : public ByteSource {
 public:
  explicit NorthflankFileBytes(std::unique_ptr<NorthflankProcess> process)
      : process_(std::move(process)) {}

  Task<size_t> read(std::span<char> into) override {
    if (taken_ == piece_.size()) co_await refill();
    const size_t count = piece_.copy(into.data(), into.size(), taken_);
    taken_ += count;
    co_return count;
  }

 private:
  Task<void> refill() {
    piece_.clear();
    taken_ = 0;
    while (piece_.empty() && !ended_) {
      auto event = co_await process_->next();
      if (!event) throw Error(ErrorCode::unavailable, "the file was lost on its way");
      if (auto* chunk = std::get_if<OutputChunk>(&*event)) {
        if (chunk->channel == Channel::stdout_) piece_ = std::move(chunk->bytes);
        continue;
      }
      if (std::get<ProcessExit>(*event).exit_code != 0)
        throw Error(ErrorCode::unavailable, "the sandbox broke off the file");
      ended_ = true;
    }
  }

  const std::unique_ptr<NorthflankProcess> process_;
  std::string piece_;
  size_t taken_ = 0;
  bool ended_ = false;
};

// Named, so that a transfer that nobody reads on is ended in the sandbox too.
Command northflank_transfer(std::string line) {
  return {.shell = std::move(line), .process_id = ProcessId::make().value};
}

}  // namespace

Task<std::unique_ptr<ByteSource>> NorthflankProvider::download(std::string id, std::string path) {
  auto process =
      std::make_unique<NorthflankProcess>(self<NorthflankProvider>(), std::move(id),
                                          northflank_transfer("cat -- " + shell::quote(path)));
  co_await process->start();
  co_return std::make_unique<NorthflankFileBytes>(std::move(process));
}

Task<void> NorthflankProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  Command command = northflank_transfer("cat > " + shell::quote(path));
  NorthflankProcess process(self<NorthflankProvider>(), std::move(id), std::move(command));
  co_await process.start();
  std::string piece(kNorthflankPiece, '\0');
  for (;;) {
    const size_t count = co_await bytes.read(piece);
    if (count == 0) break;
    std::string taken = piece.substr(0, count);
    co_await process.write_stdin(std::move(taken));
  }
  co_await process.close_stdin();
  const Ran ran = co_await read_to_end(process);
  if (ran.status != 0) throw Error(ErrorCode::invalid, "the sandbox refused the file");
}

}  // namespace sandgate
