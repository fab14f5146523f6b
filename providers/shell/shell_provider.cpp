#include "providers/shell/shell_provider.hpp"

#include <charconv>

#include "gateway/core/crypto.hpp"
#include "gateway/core/settle.hpp"
#include "providers/byte_sources.hpp"
#include "providers/shell/shell_command.hpp"
#include "providers/transport/rest_api.hpp"

namespace sandgate {
namespace {

// Fits into 64 KiB after base64 encoding, which some adapters apply a second time.
constexpr size_t kUploadPiece = 32 << 10;
constexpr uint64_t kDownloadPiece = 192 << 10;
constexpr size_t kFeedPiece = 192 << 10;

// Reads a file in pieces, each printed by one line.
class ShellFileBytes : public ByteSource {
 public:
  ShellFileBytes(std::shared_ptr<ShellProvider> owner, std::string id, std::string path)
      : owner_(std::move(owner)), id_(std::move(id)), path_(std::move(path)) {}

  Task<size_t> read(std::span<char> into) override {
    if (taken_ == piece_.size() && !ended_) co_await refill();
    const size_t count = piece_.copy(into.data(), into.size(), taken_);
    taken_ += count;
    co_return count;
  }

 private:
  Task<void> refill() {
    const std::string line = "tail -c +" + std::to_string(offset_ + 1) + " -- " +
                             shell::quote(path_) + " | head -c " + std::to_string(kDownloadPiece) +
                             " | base64 | tr -d '\\n'";
    const ShellProvider::LineResult ran = co_await owner_->run(id_, line);
    auto bytes = base64_decode(std::string_view(ran.output).substr(0, ran.output.find('\n')));
    if (!bytes) throw shell::unexpected_output();
    piece_ = std::move(*bytes);
    taken_ = 0;
    offset_ += piece_.size();
    ended_ = piece_.size() < kDownloadPiece;
  }

  const std::shared_ptr<ShellProvider> owner_;
  const std::string id_, path_;
  std::string piece_;
  size_t taken_ = 0;
  uint64_t offset_ = 0;
  bool ended_ = false;
};

Task<void> feed_all(ProcessStream& process, ByteSource& file) {
  std::string piece(kFeedPiece, '\0');
  for (;;) {
    const size_t count = co_await file.read(piece);
    if (count == 0) break;
    co_await process.write_stdin(piece.substr(0, count));
  }
  co_await process.close_stdin();
}

// Returns the exception if feeding fails; otherwise runs until cancelled.
Task<std::exception_ptr> failure_of_feeding(ProcessStream& process, ByteSource& file) {
  try {
    co_await feed_all(process, file);
  } catch (...) {
    co_return std::current_exception();
  }
  co_await then_wait_forever(sleep_for(std::chrono::seconds(0)));
  co_return nullptr;
}

Task<std::string> printed(std::shared_ptr<ShellProvider> owner, std::string id, std::string line) {
  ShellProvider::LineResult ran = co_await owner->run(std::move(id), std::move(line));
  co_return std::move(ran.output);
}

}  // namespace

Task<ShellProvider::LineResult> ShellProvider::read_to_end(ProcessStream& process) {
  for (LineResult ran;;) {
    const auto event = co_await process.next();
    if (!event) throw Error(ErrorCode::unavailable, "the process was lost");
    if (const auto* exit = std::get_if<ProcessExit>(&*event)) {
      ran.status = exit->exit_code;
      co_return ran;
    }
    const auto& chunk = std::get<OutputChunk>(*event);
    if (chunk.channel == Channel::stdout_ && ran.output.size() < kMaxPrinted)
      ran.output += chunk.bytes;
  }
}

void ShellProvider::check_written(const LineResult& ran) {
  if (ran.status != 0) throw Error(ErrorCode::invalid, "the sandbox refused the file");
}

Task<void> ShellProvider::feed_to_end(ProcessStream& process, ByteSource& file) {
  using namespace asio::experimental::awaitable_operators;
  Settled<LineResult> settled;
  auto race = settle(read_to_end(process), settled) || failure_of_feeding(process, file);
  auto winner = co_await std::move(race);
  if (winner.index() == 1) std::rethrow_exception(std::get<1>(winner));
  check_written(settled.take());
}

shell::ShellFiles ShellProvider::files(const std::string& id) {
  return shell::ShellFiles([owner = shared_from_this(), id](std::string line) {
    return printed(owner, id, std::move(line));
  });
}

Task<std::optional<BackendSandbox>> ShellProvider::find_by_tag(std::string sandbox_id) {
  const auto all = co_await list();
  for (const auto& sandbox : all)
    if (sandbox.sandbox_id == sandbox_id) co_return sandbox;
  co_return std::nullopt;
}

Task<FileContent> ShellProvider::read_file(std::string id, std::string path, ByteRange range) {
  shell::ShellFiles here = files(id);
  FileContent content;
  content.entry = co_await here.stat(path, /*follow=*/true);
  if (content.entry.type == FileType::directory) throw Error::invalid("/path", "is a directory");
  content.bytes = std::make_unique<TextBytes>();
  if (range.first >= content.entry.size) co_return content;
  auto stream = co_await download(id, content.entry.path);
  content.bytes = std::make_unique<SlicedBytes>(std::move(stream), range.first, range.size_limit());
  co_return content;
}

Task<FileEntry> ShellProvider::write_file(std::string id, std::string path, uint32_t mode,
                                          ByteSource& bytes) {
  shell::ShellFiles here = files(id);
  const std::string place = co_await here.place_for(path);
  auto uploading = upload(id, place, bytes);
  const auto uploaded = co_await attempt(std::move(uploading));
  if (const auto* failure = std::get_if<Error>(&uploaded)) {
    auto removing = here.remove(place, /*recursive=*/false);
    co_await attempt(std::move(removing));
    throw *failure;
  }
  co_return co_await here.publish(place, path, mode);
}

Task<std::unique_ptr<ByteSource>> ShellProvider::download(std::string id, std::string path) {
  co_return std::make_unique<ShellFileBytes>(shared_from_this(), std::move(id), std::move(path));
}

Task<void> ShellProvider::upload(std::string id, std::string path, ByteSource& bytes) {
  std::string piece(kUploadPiece, '\0');
  for (const char* to = " > ";; to = " >> ") {
    const size_t filled = co_await fill(bytes, piece);
    const std::string line = "printf %s " +
                             base64_encode(std::string_view(piece).substr(0, filled)) +
                             " | base64 -d" + to + shell::quote(path);
    const LineResult ran = co_await run(id, line);
    check_written(ran);
    if (filled < piece.size()) co_return;
  }
}

Task<FileEntry> ShellProvider::stat(std::string id, std::string path) {
  shell::ShellFiles here = files(id);
  co_return co_await here.stat(std::move(path));
}

Task<std::vector<FileEntry>> ShellProvider::list_files(std::string id, std::string path,
                                                       int depth) {
  shell::ShellFiles here = files(id);
  co_return co_await here.list(std::move(path), depth);
}

Task<FileEntry> ShellProvider::make_directory(std::string id, std::string path) {
  shell::ShellFiles here = files(id);
  co_return co_await here.make_directory(std::move(path));
}

Task<FileEntry> ShellProvider::move(std::string id, std::string from, std::string to) {
  shell::ShellFiles here = files(id);
  co_return co_await here.move(std::move(from), std::move(to));
}

Task<void> ShellProvider::remove(std::string id, std::string path, bool recursive) {
  shell::ShellFiles here = files(id);
  co_await here.remove(std::move(path), recursive);
}

Task<int> ShellProvider::stored_status(std::string id, std::string name) {
  const std::string line = shell::stored_status_line(name);
  const LineResult ran = co_await run(std::move(id), line);
  int status = -1;
  std::from_chars(ran.output.data(), ran.output.data() + ran.output.size(), status);
  if (ran.status != 0 || status < 0 || status > 255) throw disconnected_without_exit();
  co_return status;
}

Task<void> ShellProvider::signal(std::string id, std::string process, int number) {
  const bool can = descriptor().can(Verb::signal);
  return can ? signal_by_line(std::move(id), std::move(process), number)
             : Provider::signal(std::move(id), std::move(process), number);
}

Task<void> ShellProvider::signal_by_line(std::string id, std::string process, int number) {
  const std::string line = shell::signal_line(process, number);
  const LineResult ran = co_await run(std::move(id), line);
  if (ran.status != 0) throw Error::not_found("process", process);
}

Task<void> ShellProvider::set_up(std::string id, Task<LineResult> line, const char* refusal) {
  const auto outcome = co_await attempt(std::move(line));
  const auto* ended = std::get_if<LineResult>(&outcome);
  if (ended && ended->status == 0) co_return;
  Error why(ErrorCode::no_capacity, refusal);
  if (const auto* error = std::get_if<Error>(&outcome)) why = refused_create(*error);
  const Error failure = co_await abort_create(std::move(id), std::move(why));
  throw failure;
}

Task<bool> ShellProvider::is_responsive(std::string id) {
  const std::string nothing = "true";
  const auto outcome = co_await attempt(run(std::move(id), nothing));
  const auto* error = std::get_if<Error>(&outcome);
  if (error && error->code != ErrorCode::not_found) throw *error;
  co_return !error;
}

void ShellProvider::refuse_account(const Command& command) const {
  if (!command.user.empty())
    throw Error::invalid("/user", "cannot be chosen: " + descriptor().provider +
                                      " runs all commands as one account");
}

Task<void> ShellProvider::check_directory(std::string id, const Command& command) {
  if (command.cwd.empty()) co_return;
  const std::string line = "cd && cd -- " + shell::quote(command.cwd);
  const LineResult ran = co_await run(std::move(id), line);
  if (ran.status != 0) throw Error::invalid("/cwd", "is not a directory in the sandbox");
}

}  // namespace sandgate
