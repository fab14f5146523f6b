#include "providers/agentcore/agentcore_runtime_wire.hpp"

#include <algorithm>
#include <regex>

#include "gateway/core/crypto.hpp"
#include "gateway/core/ids.hpp"
#include "providers/shell/end_mark.hpp"
#include "providers/shell/shell_command.hpp"
#include "providers/vendor_json.hpp"

namespace sandgate::agentcore_runtime {
namespace {

constexpr std::string_view kSessionWord = "sandgate-";
constexpr size_t kLongestCommand = 64 << 10;
constexpr std::chrono::seconds kLongestRun{3600};

// In the directory that the supervisor uses as well.
constexpr const char* kBirth = "d=${TMPDIR:-/tmp}/.sandgate; b=$d/birth; ";

// dd returns what is available, so that output is delivered immediately.
constexpr std::string_view kRelay = R"sh(
relay() { while x=$(dd bs=24576 count=1 2>/dev/null | base64 | tr -d '\n') && [ -n "$x" ]; do echo "$x"; done; }
exec 3>&1 4>&2
)sh";

}  // namespace

std::optional<Arn> to_arn(const std::string& text) {
  static const std::regex kForm(
      "arn:aws(-[a-z-]+)?:bedrock-agentcore:([a-z0-9-]+):[0-9]{12}:runtime/"
      "([a-zA-Z][a-zA-Z0-9_]{0,99}-[a-zA-Z0-9]{10})");
  std::smatch parts;
  if (text.size() > 256 || !std::regex_match(text, parts, kForm)) return std::nullopt;
  return Arn{text, parts[2], parts[3]};
}

std::string to_session_id(const std::string& sandbox_id) {
  return std::string(kSessionWord) + sandbox_id;
}

std::string to_sandbox_id(const std::string& session_id) {
  if (!session_id.starts_with(kSessionWord)) return "";
  const auto ours = SandboxId::parse(session_id.substr(kSessionWord.size()));
  return ours ? ours->value : "";
}

std::string init_script(const std::map<std::string, std::string>& env) {
  // The file is renamed into place so that it is never seen incomplete.
  return std::string(kBirth) + "mkdir -p \"$d\" && chmod 1777 \"$d\" && (umask 077; printf %s " +
         shell::quote(shell::exports_of(env, "\n")) + " >\"$b.new\") && mv -f \"$b.new\" \"$b\"";
}

std::string in_session(const std::string& line, const std::string& directory) {
  std::string script(kBirth);
  script +=
      std::string("[ -r \"$b\" ] || { echo ") + kGone + "; exit; }; . \"$b\"; cd 2>/dev/null; ";
  if (!directory.empty())
    script +=
        "(cd -- " + shell::quote(directory) + ") 2>/dev/null || { echo " + kNowhere + "; exit; }; ";
  return script + "echo " + kHere + "; " + line;
}

std::string streamed(const std::string& line, const std::string& word) {
  return std::string(kRelay) + "{ { { (" + line + "\n) </dev/null; s=$?; " +
         EndMark::line_of(word, /*both=*/true) +
         "; } 2>&1 >&8 8>&- 3>&- 4>&- | relay >&4; } 8>&1 | relay >&3; }";
}

Json to_command(const std::string& script, std::chrono::milliseconds limit) {
  // The vendor splits a command into words by quoting rules of its own, without a shell. These
  // words contain no nested quotes, so those rules agree with a shell's.
  std::string command =
      "/bin/sh -c 'eval \"$(printf %s " + base64_encode(script) + " | base64 -d)\"'";
  if (command.size() > kLongestCommand)
    throw Error(ErrorCode::too_large, "agentcore_runtime takes commands of up to 48 KiB");
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(limit);
  const auto longest = seconds.count() > 0 ? std::min(seconds, kLongestRun) : kLongestRun;
  return {{"command", std::move(command)}, {"timeout", longest.count()}};
}

Chunk to_chunk(const std::string& payload) {
  const Json document = parse_record(payload);
  if (!document.is_object()) throw unexpected_answer("agentcore_runtime");
  const Json output = field_of(document, "contentDelta"), end = field_of(document, "contentStop");
  Chunk chunk{.out = text_of(output, "stdout"), .err = text_of(output, "stderr")};
  if (end.is_null()) return chunk;
  chunk.status = exit_status_of(end, "exitCode");
  if (!chunk.status) throw unexpected_answer("agentcore_runtime");
  if (*chunk.status < 0) throw Error(ErrorCode::unavailable, "agentcore_runtime lost the command");
  chunk.timed_out = text_of(end, "status") == "TIMED_OUT";
  return chunk;
}

}  // namespace sandgate::agentcore_runtime
