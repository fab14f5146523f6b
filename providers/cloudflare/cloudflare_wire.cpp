#include "providers/cloudflare/cloudflare_wire.hpp"

#include "gateway/core/crypto.hpp"
#include "providers/shell/shell_command.hpp"

namespace sandgate::cloudflare {
namespace {

constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz234567";
// The directory that the supervisor uses as well.
constexpr const char* kFolder = "d=${TMPDIR:-/tmp}/.sandgate; ";

}  // namespace

std::string to_backend_id(const std::string& sandbox_id) {
  std::string id;
  unsigned held = 0;
  int bits = 0;
  for (const char c : sandbox_id) {
    held = (held << 8 | static_cast<unsigned char>(c)) & 0xFFF;
    for (bits += 8; bits >= 5; bits -= 5) id += kLetters[(held >> (bits - 5)) & 31];
  }
  if (bits > 0) id += kLetters[(held << (5 - bits)) & 31];
  return id;
}

std::optional<std::string> to_sandbox_id(const std::string& backend_id) {
  std::string text;
  unsigned held = 0;
  int bits = 0;
  for (const char c : backend_id) {
    const size_t value = kLetters.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    held = (held << 5 | static_cast<unsigned>(value)) & 0xFFF;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    text += static_cast<char>(held >> bits);
  }
  if (text.empty() || to_backend_id(text) != backend_id) return std::nullopt;
  return text;
}

std::string to_init_script(const CreateSpec& spec) {
  return shell::exports_of(spec.env, "\n") + "true\n";
}

std::string install_line() {
  return kFolder + std::string("mkdir -p \"$d\" && chmod 1777 \"$d\" && mv -f /") + kInitFile +
         " \"$d/birth\"";
}

std::string guarded(const std::string& line) {
  return kFolder + std::string("b=$d/birth; [ -r \"$b\" ] || b=/") + kInitFile +
         "; [ -r \"$b\" ] || exit " + std::to_string(kGone) + "; . \"$b\"; cd; " + line;
}

Json to_exec(const std::string& line, std::chrono::milliseconds timeout) {
  Json body{{"argv", Json::array({"/bin/sh", "-c", guarded(line)})}};
  if (timeout.count() > 0) body["timeout_ms"] = timeout.count();
  return body;
}

ExecEvent to_event(const ServerEvent& event) {
  ExecEvent result;
  if (event.name == "stdout" || event.name == "stderr") {
    auto bytes = base64_decode(event.data);
    if (!bytes) throw unexpected_answer("cloudflare");
    result.channel = event.name == "stdout" ? Channel::stdout_ : Channel::stderr_;
    result.bytes = std::move(*bytes);
    return result;
  }
  if (event.name != "exit") throw Error(ErrorCode::unavailable, "cloudflare lost the command");
  const Json data = parse_record(event.data);
  result.status = exit_status_of(data, "exit_code");
  if (!result.status) throw unexpected_answer("cloudflare");
  return result;
}

Error read_error(std::string_view provider, const HttpReply& reply) {
  Error error = error_of_status(provider, reply.status, reply.headers);
  const Json document = parse_answer(reply.body);
  if (text_of(document, "code") == "capacity_exceeded") error.code = ErrorCode::no_capacity;
  return error;
}

}  // namespace sandgate::cloudflare
