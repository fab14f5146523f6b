#include "providers/agentcore/agentcore_wire.hpp"

#include <algorithm>
#include <charconv>

#include "gateway/core/crypto.hpp"
#include "gateway/core/ids.hpp"
#include "providers/shell/shell_command.hpp"

namespace sandgate::agentcore {
namespace {

constexpr int64_t kLongestSession = 28'800;
constexpr char kWhoseSession = '-';  // separates our id from the gateway's
constexpr std::string_view kStatusMark = "sandgate-status:";
constexpr std::string_view kEnvironmentFile = "\"${HOME:-/tmp}/.sandgate_environment\"";

// A terminal ends lines with CR LF.
std::string without_returns(std::string text) {
  std::erase(text, '\r');
  return text;
}

}  // namespace

std::string to_token(const std::string& sandbox_id) {
  return "sandgate-" + sandbox_id + "-" + sha256_hex(sandbox_id).substr(0, 32);
}

Json to_start(const CreateSpec& spec, const CreateRules& rules) {
  const bool open = spec.network.fallback == NetworkDefault::allow;
  if (!spec.network.allow.empty() || open != rules.is_open)
    throw Error(ErrorCode::unsupported, "agentcore has no such network policy");
  if (!spec.image.empty() && spec.image != rules.interpreter)
    throw Error(ErrorCode::no_capacity, "agentcore's deployment is for another interpreter");
  const int64_t life = std::max<int64_t>(spec.ttl.count(), rules.keep_alive_seconds);
  const std::string whose = spec.installation.empty() ? "" : kWhoseSession + spec.installation;
  return {{"name", spec.sandbox_id + whose},
          {"sessionTimeoutSeconds", std::min(life, kLongestSession)},
          {"clientToken", to_token(spec.sandbox_id)}};
}

Box to_box(const Json& session) {
  return reading("agentcore", [&] {
    Box box;
    box.sandbox.backend_id = session.at("sessionId").get<std::string>();
    const std::string name = text_of(session, "name");
    const size_t end = std::min(name.find(kWhoseSession), name.size());
    if (const auto ours = SandboxId::parse(name.substr(0, end))) {
      box.sandbox.sandbox_id = ours->value;
      if (end < name.size()) box.sandbox.installation = name.substr(end + 1);
    }
    box.sandbox.isolation = Isolation::microvm;
    box.sandbox.created_at = time_of(session, "createdAt");
    box.ended = text_of(session, "status") == "TERMINATED";
    return box;
  });
}

std::string to_environment_line(const std::map<std::string, std::string>& env) {
  return "umask 077; printf %s " + base64_encode(shell::exports_of(env, "\n")) + " | base64 -d > " +
         std::string(kEnvironmentFile);
}

std::string in_session(const std::string& line) {
  const std::string file(kEnvironmentFile);
  return "if [ -r " + file + " ]; then . " + file + "; fi; cd 2>/dev/null; " + line;
}

std::string to_command(const std::string& line) {
  const std::string script = "(" + in_session(line) + "\n) </dev/null 2>/dev/null; echo \"" +
                             std::string(kStatusMark) + "$?\"";
  return "/bin/sh -c " + shell::quote(script);
}

ToolResult to_result(const std::string& payload) {
  const Json document = parse_record(payload);
  return reading("agentcore", [&] {
    ToolResult result;
    result.failed = document.value("isError", Json()) == true;
    result.printed = text_of(document.value("structuredContent", Json()), "stdout");
    if (!result.printed.empty()) return result;
    for (const Json& block : list_of("agentcore", document, "content"))
      if (text_of(block, "type") == "text") result.printed += text_of(block, "text");
    return result;
  });
}

ShellProvider::LineResult to_line_result(const ToolResult& result) {
  const std::string printed = without_returns(result.printed);
  const size_t mark = printed.rfind(kStatusMark);
  if (mark == std::string::npos)
    throw Error(ErrorCode::unavailable, "agentcore did not run the command");
  ShellProvider::LineResult ran;
  const char* from = printed.data() + mark + kStatusMark.size();
  const auto [end, failure] = std::from_chars(from, printed.data() + printed.size(), ran.status);
  if (failure != std::errc()) throw unexpected_answer("agentcore");
  ran.output = printed.substr(0, mark);
  return ran;
}

}  // namespace sandgate::agentcore
