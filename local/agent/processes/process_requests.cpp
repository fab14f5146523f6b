#include <sys/stat.h>
#include <unistd.h>

#include "gateway/core/error.hpp"
#include "gateway/core/json_reader.hpp"
#include "gateway/core/json_text.hpp"
#include "local/agent/files/file_path.hpp"
#include "local/agent/processes/environment.hpp"
#include "local/agent/processes/input_stream.hpp"
#include "local/agent/processes/output_stream.hpp"
#include "local/agent/requests.hpp"

namespace sandgate::agent {
namespace {

constexpr size_t kMaxArguments = 128 * 1024;  // bytes in total
constexpr size_t kMaxArgumentCount = 4096;
constexpr size_t kMaxCommandShown = 4096;  // bytes of a command as shown in the list
constexpr int64_t kMaxTimeoutMs = int64_t{1000} * 60 * 60 * 24 * 366;
constexpr size_t kListFrameBytes = 32 * 1024;  // size at which a list frame is sent

std::shared_ptr<Process> find_process(const ProcessRequest& request) {
  request.reader.require("process");
  const auto id = request.reader.text("process", {.min = 1, .max = kMaxPath});
  request.reader.finish();
  request.problems.throw_if_any();
  return request.context.processes.get(*id);
}

std::optional<std::pair<uint16_t, uint16_t>> read_size(ObjectReader& reader, Problems& problems) {
  const Json* size = reader.object("pty");
  if (!size) return std::nullopt;
  ObjectReader members(*size, problems, reader.path_of("pty"));
  const auto cols = members.integer("cols", 1, 10'000), rows = members.integer("rows", 1, 10'000);
  members.finish();
  return std::pair(static_cast<uint16_t>(cols.value_or(80)),
                   static_cast<uint16_t>(rows.value_or(24)));
}

std::vector<std::string> read_command(ObjectReader& reader, Problems& problems) {
  const auto argv = reader.texts("argv", kMaxArgumentCount, {.min = 0, .max = kMaxArguments});
  const auto shell = reader.text("shell", {.min = 1, .max = kMaxArguments});
  if (argv.has_value() == shell.has_value() || (argv && argv->empty())) {
    problems.add("", "exactly one of argv and shell is needed");
    return {};
  }
  if (shell) {
    const char* program = ::access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
    return {program, "-c", *shell};
  }
  size_t bytes = 0;
  for (const std::string& argument : *argv) bytes += argument.size() + 1;
  if (bytes > kMaxArguments) problems.add("/command", "is longer than 128 KiB");
  return *argv;
}

std::vector<std::string> listed(const std::vector<std::string>& argv) {
  std::vector<std::string> shown;
  size_t left = kMaxCommandShown;
  for (const std::string& argument : argv) {
    if (left == 0) break;
    shown.push_back(argument.substr(0, left));
    left -= shown.back().size();
  }
  return shown;
}

ProcessSettings read_settings(ObjectReader& reader) {
  ProcessSettings settings;
  reader.require("process");
  settings.id = reader.text("process", {.min = 1, .max = 64}).value_or("");
  settings.background = reader.boolean("background").value_or(false);
  settings.keep = reader.boolean("keep").value_or(settings.background);
  settings.timeout =
      std::chrono::milliseconds(reader.integer("timeout_ms", 0, kMaxTimeoutMs).value_or(0));
  return settings;
}

Spawned start(const SpawnSpec& spec, Context& context) {
  if (const auto first = std::exchange(context.preforked_child, nullptr))
    if (auto child = first->start(spec, context.loop.clock())) return std::move(*child);
  return spawn(spec, context.settings, context.loop.clock());
}

}  // namespace

std::unique_ptr<Operation> start_exec(const ProcessRequest& request) {
  ObjectReader& reader = request.reader;
  SpawnSpec spec;
  ProcessSettings settings = read_settings(reader);
  spec.argv = read_command(reader, request.problems);
  spec.cwd = reader.text("cwd", {.min = 0, .max = kMaxPath}).value_or("");
  spec.terminal = read_size(reader, request.problems);
  const std::string user = reader.text("user", {.min = 0, .max = 256}).value_or("");
  const auto env = read_environment(reader, request.problems);
  reader.finish();
  request.problems.throw_if_any();

  Context& context = request.context;
  context.processes.check_capacity(settings.id);
  spec.identity = find_identity(user, context.settings);
  spec.env = environment_of(spec.identity, spec.terminal.has_value(), context.settings.env, env);
  settings.command = listed(spec.argv);
  settings.terminal = spec.terminal.has_value();
  const bool kill_when_closed = !settings.keep;
  const auto process = context.processes.add(settings, start(spec, context));
  request.connection.reply({{"process", settings.id}, {"offset", 0}});
  return std::make_unique<OutputStream>(request.connection, process, 0, kill_when_closed);
}

std::unique_ptr<Operation> start_attach(const ProcessRequest& request) {
  const auto from = request.reader.integer("from", 0, INT64_MAX);
  const auto process = find_process(request);
  const uint64_t wanted = from ? static_cast<uint64_t>(*from) : process->output().end();
  const uint64_t begin = std::clamp(wanted, process->output().begin(), process->output().end());
  request.connection.reply({{"process", process->settings().id}, {"offset", begin}});
  return std::make_unique<OutputStream>(request.connection, process, begin, false);
}

std::unique_ptr<Operation> start_write_input(const ProcessRequest& request) {
  return std::make_unique<InputStream>(request.connection, find_process(request));
}

void answer_processes(const ProcessRequest& request) {
  request.reader.finish();
  request.problems.throw_if_any();
  std::string items;
  const auto send = [&] {
    if (!items.empty()) request.connection.send(FrameType::items, items + "]");
    items.clear();
  };
  for (const auto& [id, process] : request.context.processes.all()) {
    const std::string item = json_text(process->describe());
    if (items.size() + item.size() >= kListFrameBytes) send();
    items += (items.empty() ? '[' : ',') + item;
  }
  send();
  request.connection.send(FrameType::end, "");
}

void answer_process(const ProcessRequest& request) {
  request.connection.reply(find_process(request)->describe());
}

void answer_signal(const ProcessRequest& request) {
  request.reader.require("signal");
  const auto number = request.reader.integer("signal", 1, 64);
  const auto process = find_process(request);
  process->signal(static_cast<int>(*number));
  request.connection.reply(Json::object());
}

void answer_close_input(const ProcessRequest& request) {
  const auto process = find_process(request);
  if (process->ended()) throw Error(ErrorCode::conflict, "the process has ended");
  process->close_input();
  request.connection.reply(Json::object());
}

void answer_resize(const ProcessRequest& request) {
  request.reader.require("pty");
  const auto size = read_size(request.reader, request.problems);
  const auto process = find_process(request);
  if (process->ended()) throw Error(ErrorCode::conflict, "the process has ended");
  process->resize(size->first, size->second);
  request.connection.reply(Json::object());
}

}  // namespace sandgate::agent
