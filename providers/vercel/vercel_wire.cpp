#include "providers/vercel/vercel_wire.hpp"

#include <algorithm>

#include "providers/shell/line_limits.hpp"
#include "providers/shell/shell_command.hpp"

namespace sandgate::vercel {
namespace {

constexpr const char* kSnapshotTag = "sandgate_snapshot";
constexpr const char* kSessionTag = "sandgate_session";
constexpr int64_t kMsPerDay = 86'400'000;
constexpr int64_t kMemoryPerCore = 2048;  // MiB per core, fixed by the vendor

// $0 is the process id, $1 whether the process is in the background, $2 the directory.
constexpr std::string_view kStart = R"sh(cd 2>/dev/null
[ -z "$2" ] || cd -- "$2" 2>/dev/null || exit 98
shift 2
exec "$@" </dev/null
)sh";
// Index of the program in the arguments, after ours and the supervisor's.
constexpr size_t kProgramAt = 10;
constexpr size_t kLimitAt = 9;

// Returns a number of bytes or milliseconds, or 0 if it is not a plausible one. Two such times can
// be added as microseconds.
int64_t number_of(const Json& document, const char* name) {
  constexpr double kMaxNumber = 0x1p50;
  const Json value = field_of(document, name);
  const double number = value.is_number() ? value.get<double>() : 0;
  return number > 0 && number < kMaxNumber ? static_cast<int64_t>(number) : 0;
}

Session to_session(const Json& sandbox, const Json& session) {
  Session result;
  result.id = text_of(session, "id");
  if (result.id.empty()) result.id = text_of(sandbox, "currentSessionId");
  result.cwd = text_of(session, "cwd");
  const bool plain =
      std::all_of(result.cwd.begin(), result.cwd.end(), [](char c) { return c > ' ' && c < 0x7F; });
  if (!plain || !result.cwd.starts_with('/')) result.cwd = "/tmp";
  result.timeout = std::chrono::milliseconds(number_of(session, "timeout"));
  const int64_t began = number_of(session, "startedAt");
  if (began > 0) result.ends_at = from_micros(began * 1000) + result.timeout;
  return result;
}

// Whether these arguments are those of a command that to_run started.
bool is_ours(const Json& args) {
  if (!args.is_array() || args.size() <= kProgramAt) return false;
  const bool words =
      std::all_of(args.begin(), args.end(), [](const Json& one) { return one.is_string(); });
  return words && args[1].get<std::string>() == kStart;
}

}  // namespace

Resources granted(const Resources& asked) {
  const int64_t least =
      std::max(in_units(asked.milli_vcpu, 1000), in_units(asked.memory_mib, kMemoryPerCore));
  const int64_t cores = least <= 1 ? 1 : least + least % 2;
  Resources size = asked;
  size.milli_vcpu = cores * 1000;
  size.memory_mib = cores * kMemoryPerCore;
  return size;
}

Json to_create(const CreateSpec& spec, const CreateRules& rules) {
  if (!spec.network.allow.empty())
    throw Error(ErrorCode::unsupported, "vercel has no rules for hosts and ports");
  const bool deny = spec.network.fallback == NetworkDefault::deny;
  Json tags = Json::object();
  put_tags(tags, spec.sandbox_id, spec.installation);
  Json body{{"projectId", rules.project},
            {"name", spec.sandbox_id},
            {"tags", std::move(tags)},
            {"env", spec.env},
            {"ports", Json::array()},
            {"persistent", true},
            {"timeout", std::max<int64_t>(1, spec.ttl.count()) * 1000},
            {"resources", {{"vcpus", granted(spec.resources).milli_vcpu / 1000}}},
            {"networkPolicy", {{"mode", deny ? "deny-all" : "allow-all"}}},
            {"snapshotExpiration", rules.snapshot_days * kMsPerDay}};
  if (!rules.region.empty()) body["region"] = rules.region;
  const std::string& image = spec.image.empty() ? rules.image : spec.image;
  if (!spec.snapshot.empty())
    body["source"] = {{"type", "snapshot"}, {"snapshotId", spec.snapshot}};
  else if (!image.empty())
    body["image"] = image;
  return body;
}

Json to_tags(const BackendSandbox& sandbox, const std::string& snapshot_id,
             const std::string& session) {
  Json tags = Json::object();
  put_tags(tags, sandbox.sandbox_id, sandbox.installation);
  if (!snapshot_id.empty()) {
    tags[kSnapshotTag] = snapshot_id;
    tags[kSessionTag] = session;
  }
  return {{"tags", std::move(tags)}};
}

Box to_box(const Json& document) {
  return reading("vercel", [&] {
    const Json& sandbox = document.at("sandbox");
    const Json tags = sandbox.value("tags", Json());
    Box box;
    box.sandbox.backend_id = sandbox.at("name").get<std::string>();
    read_tags(tags, box.sandbox);
    box.sandbox.isolation = Isolation::microvm;
    box.sandbox.region = text_of(sandbox, "region");
    box.sandbox.created_at = time_of(sandbox, "createdAt");
    box.saved_session = text_of(tags, kSessionTag);
    box.session = to_session(sandbox, document.value("session", Json()));
    const std::string status = sandbox.at("status").get<std::string>();
    box.running = status == "running";
    box.stopped = status == "stopped" || status == "failed" || status == "aborted";
    // What failed has lost what it wrote since its last snapshot.
    const bool saved = status == "stopped" && !text_of(sandbox, "currentSnapshotId").empty();
    if (box.stopped && !saved) box.sandbox.state = BackendState::gone;
    if (saved || status == "stopping") {
      box.sandbox.state = BackendState::paused;
      box.sandbox.kept = Keeps::disk;
    }
    return box;
  });
}

SandboxPage to_page(const Json& document) {
  SandboxPage page;
  for (const Json& item : list_of("vercel", document, "sandboxes")) {
    const Json answer{{"sandbox", item}};
    Box box = to_box(answer);
    const bool ended = box.sandbox.state == BackendState::gone;
    (ended ? page.remains : page.sandboxes).push_back(std::move(box.sandbox));
  }
  page.next = next_query("cursor", text_of(document.value("pagination", Json()), "next"));
  return page;
}

BackendSnapshot to_snapshot(const Json& document) {
  const std::string id = text_of(document, "id");
  if (id.empty()) throw unexpected_answer("vercel");
  return {.backend_id = id, .kept = Keeps::disk, .size_bytes = number_of(document, "sizeBytes")};
}

Json to_run(const Command& command, bool waits) {
  Json args = Json::array(
      {"-c", kStart, command.process_id, command.background ? "background" : "", command.cwd});
  for (auto& word : shell::argv_of(command)) args.push_back(std::move(word));
  Json body{{"command", "/bin/sh"},
            {"args", std::move(args)},
            {"env", command.env},
            {"sudo", command.user == "root"}};
  if (waits) body.update({{"wait", true}, {"logs", true}});
  return body;
}

Json to_run(const std::string& line, bool root) {
  return {{"command", "/bin/sh"},
          {"args", Json::array({"-c", "cd; " + line})},
          {"env", Json::object()},
          {"sudo", root},
          {"wait", true},
          {"logs", true},
          {"timeout", std::chrono::milliseconds(shell::kLineTime).count()}};
}

Json to_terminal(const Command& command, const std::string& cwd) {
  const std::string line = "cd; " + shell::line_of(command);
  const bool root = command.user == "root";
  Json args = Json::array({"-c", line});
  if (root) args.insert(args.begin(), "/bin/sh");
  const PtySize size = command.pty.value_or(PtySize{});
  return {{"type", "start"},
          {"command", root ? "sudo" : "/bin/sh"},
          {"args", std::move(args)},
          {"env", Json::array({"TERM=xterm-256color"})},
          {"cwd", cwd},
          {"cols", size.cols},
          {"rows", size.rows}};
}

std::optional<int> to_terminal_end(const std::string& message) {
  const Json document = parse_record(message);
  if (text_of(document, "type") != "exit") return std::nullopt;
  const auto status = exit_status_of(document, "code");
  if (!status) throw unexpected_answer("vercel");
  return status;
}

std::optional<Listed> to_listed(const Json& document) {
  const Json args = field_of(document, "args");
  if (!is_ours(args)) return std::nullopt;
  Listed listed;
  listed.command_id = text_of(document, "id");
  listed.limited = !args[kLimitAt].get<std::string>().empty();
  listed.info.id = args[2].get<std::string>();
  listed.info.background = args[3] == "background";
  for (size_t i = kProgramAt; i < args.size(); ++i)
    listed.info.command.push_back(args[i].get<std::string>());
  const int64_t began = number_of(document, "startedAt");
  listed.info.started_at = from_micros(began * 1000);
  const auto status = exit_status_of(document, "exitCode");
  if (!status) return listed;
  const std::chrono::milliseconds lasted(number_of(document, "durationMs"));
  Command command{.timeout = std::chrono::milliseconds(listed.limited ? 1 : 0)};
  listed.info.state = ProcessState::exited;
  listed.info.exit = shell::exit_of(*status, command, lasted);
  listed.info.ended_at = listed.info.started_at + lasted;
  return listed;
}

LogLine to_command(const Json& document) {
  return reading("vercel", [&] {
    const Json& command = document.at("command");
    LogLine line{.command_id = command.at("id").get<std::string>()};
    line.status = exit_status_of(command, "exitCode");
    return line;
  });
}

LogLine to_log_line(const std::string& line) {
  const Json document = parse_record(line);
  if (document.is_object() && document.contains("command")) return to_command(document);
  const std::string stream = text_of(document, "stream");
  if (stream == "error") throw Error(ErrorCode::unavailable, "vercel ended the command's output");
  if (stream != "stdout" && stream != "stderr") throw unexpected_answer("vercel");
  return {.channel = stream == "stdout" ? Channel::stdout_ : Channel::stderr_,
          .text = text_of(document, "data")};
}

Error read_error(std::string_view provider, const HttpReply& reply) {
  Error error = error_of_status(provider, reply.status, reply.headers);
  const Json document = parse_answer(reply.body);
  const Json detail = field_of(document, "error");
  const std::string code = text_of(detail, "code");
  if (code == "sandbox_stopping" || code == "sandbox_snapshotting")
    error.code = ErrorCode::conflict;
  return error;
}

}  // namespace sandgate::vercel
