#include "gateway/compat/e2b/process_wire.hpp"

#include <algorithm>
#include <csignal>
#include <cstring>

#include "gateway/api/exec_request.hpp"
#include "gateway/compat/e2b/account.hpp"
#include "gateway/compat/e2b/rpc.hpp"
#include "gateway/core/crypto.hpp"
#include "gateway/core/field_text.hpp"
#include "gateway/core/utf8.hpp"

namespace sandgate::compat::e2b {
namespace {

constexpr TextRule kArgument{0, api::kMaxArgumentBytes};
constexpr size_t kMaxArguments = 4096, kMaxVariables = 1024;
constexpr size_t kIdDigits = 24;

Json wrapped(const char* kind, Json event) { return {{"event", {{kind, std::move(event)}}}}; }

void read_program(const Json& config, Command& command) {
  Problems problems;
  ObjectReader reader(config, problems, "/process");
  reader.require("cmd");
  command.argv = {reader.text("cmd", {1, kArgument.max}).value_or("")};
  for (auto& argument :
       reader.texts("args", kMaxArguments - 1, kArgument).value_or(std::vector<std::string>()))
    command.argv.push_back(std::move(argument));
  command.env = reader.text_map("envs", kMaxVariables, kArgument)
                    .value_or(std::map<std::string, std::string>());
  api::check_env_sizes(command.env, reader.path_of("envs"), problems);
  const auto cwd = reader.text("cwd", {0, 4095});
  if (cwd && !cwd->empty()) command.cwd = path_from(*cwd);
  problems.throw_if_any();
}

// "SIGKILL" as E2B says it: "killed".
std::string described(const std::string& signal) {
  const auto number = api::signal_from(signal);
  const char* words = number ? sigdescr_np(*number) : nullptr;
  return words ? ascii_lower(words) : signal;
}

std::string status_of(const ProcessExit& exit) {
  return exit.signal.empty() ? "exit status " + std::to_string(exit.exit_code)
                             : "signal: " + described(exit.signal);
}

}  // namespace

uint32_t pid_of(std::string_view process_id) {
  const std::string hash = sha256_hex(process_id);
  const auto number = static_cast<uint32_t>(std::stoul(hash.substr(0, 8), nullptr, 16));
  // Positive as a signed 32-bit number too, and never 0.
  return (number & 0x7FFFFFFF) | 0x40000000;
}

std::string process_id_of(const SandboxId& sandbox, const std::string& tag) {
  return "pr" + sha256_hex(sandbox.value + "/" + tag).substr(0, kIdDigits);
}

StartOrder start_order_from(const Json& message, const SandboxId& sandbox) {
  StartOrder order;
  Command& command = order.command;
  read_program(object_of(message, "process"), command);
  command.pty = pty_size_from(message);
  Problems problems;
  ObjectReader reader(message, problems);
  order.stdin_open = reader.boolean("stdin").value_or(true);
  const std::string tag = reader.text("tag", {0, 256}).value_or("");
  problems.throw_if_any();
  command.process_id = tag.empty() ? ProcessId::make().value : process_id_of(sandbox, tag);
  command.keep_on_disconnect = true;
  return order;
}

bool Selector::fits(const ProcessInfo& process) const {
  return process_id.empty() ? pid_of(process.id) == pid : process.id == process_id;
}

Selector selector_from(const Json& message, const SandboxId& sandbox) {
  const Json process = object_of(message, "process");
  Selector selector;
  const auto tag = process.find("tag");
  if (tag != process.end() && tag->is_string()) {
    selector.process_id = process_id_of(sandbox, tag->get<std::string>());
    return selector;
  }
  const int64_t pid = number_of(process, "pid");
  if (pid < 1 || pid > UINT32_MAX) throw Error::invalid("/process", "must have a pid or a tag");
  selector.pid = static_cast<uint32_t>(pid);
  return selector;
}

int signal_from(const Json& message) {
  const Json signal = message.value("signal", Json());
  if (signal == "SIGNAL_SIGTERM" || signal == SIGTERM) return SIGTERM;
  if (signal == "SIGNAL_SIGKILL" || signal == SIGKILL) return SIGKILL;
  throw Error(ErrorCode::unsupported, "only SIGTERM and SIGKILL can be sent");
}

std::optional<PtySize> pty_size_from(const Json& message) {
  if (!has_member(message, "pty")) return std::nullopt;
  const Json pty = object_of(message, "pty"), size = object_of(pty, "size");
  const auto within = [&](const char* name, uint16_t fallback) {
    const int64_t number = number_of(size, name);
    if (number < 0 || number > 1000)
      throw Error::invalid(std::string("/pty/size/") + name, "must be from 1 to 1000");
    return number == 0 ? fallback : static_cast<uint16_t>(number);
  };
  const PtySize usual;
  return PtySize{within("cols", usual.cols), within("rows", usual.rows)};
}

Json start_event(uint32_t pid) { return wrapped("start", {{"pid", pid}}); }

Json output_event(const OutputChunk& chunk, bool pty) {
  const char* channel = pty ? "pty" : chunk.channel == Channel::stderr_ ? "stderr" : "stdout";
  return wrapped("data", {{channel, base64_encode(chunk.bytes)}});
}

Json end_event(const ProcessExit& exit) {
  Json end{{"exitCode", exit.signal.empty() ? exit.exit_code : -1},
           {"exited", exit.signal.empty()},
           {"status", status_of(exit)}};
  // JavaScript clients show nothing else of a program that failed.
  if (!exit.signal.empty() || exit.exit_code != 0) end["error"] = status_of(exit);
  return wrapped("end", std::move(end));
}

Json keep_alive_event() { return wrapped("keepalive", Json::object()); }

Json process_json(const ProcessInfo& process) {
  Json args = Json::array();
  for (size_t i = 1; i < process.command.size(); ++i) args.push_back(to_utf8(process.command[i]));
  const std::string program = process.command.empty() ? "" : to_utf8(process.command.front());
  return {{"pid", pid_of(process.id)},
          {"config", {{"cmd", program}, {"args", std::move(args)}, {"envs", Json::object()}}}};
}

}  // namespace sandgate::compat::e2b
