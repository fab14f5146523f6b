#include "providers/vercel/vercel_process.hpp"

#include "gateway/core/settle.hpp"
#include "providers/retries.hpp"
#include "providers/vercel/vercel_terminal.hpp"

// The processes of VercelProvider.
namespace sandgate {
namespace {

// The status may be written shortly after the log has ended.
constexpr auto kVercelTimeout = std::chrono::seconds(5);
// A log that is silent for this long has delivered all existing output.
constexpr auto kVercelPast = std::chrono::milliseconds(300);
constexpr size_t kVercelRead = 64 << 10;
constexpr auto kVercelHeaders = std::chrono::seconds(30);

std::string vercel_command_path(const std::string& command_id) {
  return "/cmd/" + percent_encode(command_id);
}

Task<std::unique_ptr<VercelLog>> open_vercel_log(std::shared_ptr<VercelProvider> owner,
                                                 std::string sandbox, RestCall call) {
  call.deadline = kVercelHeaders;
  auto stream = co_await owner->stream(std::move(sandbox), std::move(call));
  co_return std::make_unique<VercelLog>(std::move(stream));
}

}  // namespace

VercelLog::VercelLog(std::unique_ptr<HttpStream> source)
    : source_(std::move(source)), buffer_(kVercelRead, '\0') {}

Task<std::optional<vercel::LogLine>> VercelLog::next() {
  for (;;) {
    if (const auto line = lines_.next()) {
      if (!line->empty()) co_return vercel::to_log_line(*line);
      continue;
    }
    const size_t count = co_await source_->read(buffer_);
    if (count == 0) co_return std::nullopt;
    lines_.add(std::string_view(buffer_).substr(0, count));
  }
}

VercelProcess::VercelProcess(std::shared_ptr<VercelProvider> owner, std::string sandbox,
                             Command command)
    : ShellProcess(owner, std::move(sandbox), std::move(command)), vercel_(std::move(owner)) {}

VercelProcess::~VercelProcess() {
  if (!has_exited()) vercel_->end_root(sandbox_, command_);
}

Task<void> VercelProcess::start() {
  const bool lasts = command_.background || command_.keep_on_disconnect;
  RestCall call{
      .method = "POST", .path = "/cmd", .json = vercel::to_run(command_, /*waits=*/!lasts)};
  starts();
  if (lasts) {
    const Json document = co_await vercel_->call(sandbox_, std::move(call));
    const vercel::LogLine started = vercel::to_command(document);
    co_await follow(started.command_id, 0);
    co_return;
  }
  log_ = co_await open_vercel_log(vercel_, sandbox_, std::move(call));
  const auto first = co_await log_->next();
  if (!first || first->command_id.empty())
    throw Error(ErrorCode::unavailable, "vercel did not start the process");
}

Task<void> VercelProcess::follow(std::string command_id, uint64_t from) {
  command_id_ = std::move(command_id);
  from_ = from;
  apart_ = true;
  starts();
  RestCall call{.path = vercel_command_path(command_id_) + "/logs"};
  log_ = co_await open_vercel_log(vercel_, sandbox_, std::move(call));
}

Task<std::optional<int>> VercelProcess::status() {
  RestCall call{.path = vercel_command_path(command_id_)};
  const Json document = co_await vercel_->call(sandbox_, std::move(call));
  co_return vercel::to_command(document).status;
}

Task<std::optional<ProcessEvent>> VercelProcess::next() {
  if (has_exited()) co_return std::nullopt;
  for (;;) {
    auto line = co_await log_->next();
    if (!line) break;
    if (line->status) co_return exit(*line->status);
    if (line->text.empty()) continue;
    ProcessEvent event = output(line->channel, std::move(line->text));
    auto& chunk = std::get<OutputChunk>(event);
    if (chunk.end_offset <= from_) continue;
    const uint64_t first = chunk.end_offset - chunk.bytes.size();
    if (first < from_) chunk.bytes.erase(0, from_ - first);
    co_return event;
  }
  if (!apart_) throw ended_without_exit();
  auto ask = [this] { return status(); };
  const int code = co_await wait_for_status(std::move(ask), kVercelTimeout);
  co_return exit(code);
}

Task<std::unique_ptr<ProcessStream>> VercelProvider::exec(std::string id, Command command) {
  if (!command.user.empty() && command.user != "root")
    throw Error::invalid("/user", "is not an account that vercel runs commands for");
  co_await check_directory(id, command);
  const auto owner = self<VercelProvider>();
  if (command.pty) {
    auto terminal = std::make_unique<VercelTerminal>(owner, id, std::move(command));
    co_await terminal->start();
    co_return terminal;
  }
  auto process = std::make_unique<VercelProcess>(owner, id, std::move(command));
  co_await process->start();
  co_return process;
}

Task<std::vector<vercel::Listed>> VercelProvider::commands(std::string id) {
  RestCall call{.path = "/cmd"};
  const Json document = co_await this->call(std::move(id), std::move(call));
  std::vector<vercel::Listed> all;
  for (const Json& item : list_of("vercel", document, "commands"))
    if (auto one = vercel::to_listed(item)) all.push_back(std::move(*one));
  co_return all;
}

Task<vercel::Listed> VercelProvider::find_command(std::string id, std::string process) {
  auto all = co_await commands(std::move(id));
  for (auto& one : all)
    if (one.info.id == process) co_return std::move(one);
  throw Error::not_found("process", process);
}

Task<std::vector<ProcessInfo>> VercelProvider::processes(std::string id) {
  auto all = co_await commands(std::move(id));
  std::vector<ProcessInfo> infos;
  for (auto& one : all) infos.push_back(std::move(one.info));
  co_return infos;
}

// The vendor does not report the length of the output, but sends existing output at once.
Task<uint64_t> VercelProvider::length_of(std::string id, std::string command_id) {
  RestCall call{.path = vercel_command_path(command_id) + "/logs"};
  const auto owner = self<VercelProvider>();
  auto log = co_await open_vercel_log(owner, std::move(id), std::move(call));
  for (uint64_t length = 0;;) {
    auto reading = log->next();
    auto outcome = co_await attempt_within(kVercelPast, std::move(reading));
    const auto* error = std::get_if<Error>(&outcome);
    if (error && error->code != ErrorCode::timeout) throw *error;
    if (error) co_return length;
    const auto& line = std::get<0>(outcome);
    if (!line) co_return length;
    length += line->text.size();
  }
}

Task<std::unique_ptr<ProcessStream>> VercelProvider::attach(std::string id, std::string process,
                                                            uint64_t from) {
  const vercel::Listed found = co_await find_command(id, process);
  if (from > INT64_MAX) from = co_await length_of(id, found.command_id);
  Command command{.timeout = std::chrono::milliseconds(found.limited ? 1 : 0),
                  .keep_on_disconnect = true,
                  .process_id = process};
  auto stream = std::make_unique<VercelProcess>(self<VercelProvider>(), id, std::move(command));
  co_await stream->follow(found.command_id, from);
  co_return stream;
}

}  // namespace sandgate
