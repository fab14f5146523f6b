#include "providers/sprites/sprites_wire.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/ids.hpp"
#include "providers/shell/shell_command.hpp"

namespace sandgate::sprites {
namespace {

// The first byte of a message outside of terminals.
enum Stream : char { in = 0, out = 1, err = 2, ended = 3, end_of_in = 4 };

// $0 is the name of the command.
constexpr std::string_view kFromStdin = R"sh(read -r l; eval "$(printf %s "$l" | base64 -d)")sh";
constexpr std::string_view kFromFile =
    R"sh(f=${TMPDIR:-/tmp}/.sandgate/$0.sh; l=$(cat "$f"); rm -f "$f"; eval "$l")sh";
// The longest duration that the vendor is known to parse.
constexpr const char* kForEver = "8760h";
// Precedes the gateway's id in a label.
constexpr std::string_view kWhoseSprite = "sandgate-";

}  // namespace

Json to_create(const CreateSpec& spec, const std::string& runtime) {
  if (!spec.network.allow.empty())
    throw Error(ErrorCode::unsupported, "sprites has no rules for hosts and ports");
  Json labels = Json::array({"sandgate"});
  if (!spec.installation.empty()) labels.push_back(std::string(kWhoseSprite) + spec.installation);
  return {{"name", spec.sandbox_id},
          {"environment", spec.env},
          {"labels", std::move(labels)},
          {"runtime", spec.image.empty() ? runtime : spec.image}};
}

// Without rules all traffic is allowed.
Json to_network(const NetworkPolicy& policy) {
  Json rules = Json::array();
  if (policy.fallback == NetworkDefault::deny)
    rules.push_back({{"domain", "*"}, {"action", "deny"}});
  return {{"rules", std::move(rules)}};
}

Json to_resources(const Resources& resources) {
  return {{"memory", {{"limit_mb", resources.memory_mib}, {"autoscale", false}}}};
}

BackendSandbox to_sandbox(const Json& document) {
  return reading("sprites", [&] {
    BackendSandbox sandbox;
    sandbox.backend_id = document.at("name").get<std::string>();
    if (is_id(SandboxId::kKind, sandbox.backend_id)) sandbox.sandbox_id = sandbox.backend_id;
    sandbox.isolation = Isolation::microvm;
    sandbox.region = text_of(document, "primary_region");
    sandbox.created_at = time_of(document, "created_at");
    for (const Json& label : document.value("labels", Json::array()))
      if (const auto text = label.get<std::string>(); text.starts_with(kWhoseSprite))
        sandbox.installation = text.substr(kWhoseSprite.size());
    return sandbox;
  });
}

SandboxPage to_page(const Json& document) {
  SandboxPage page;
  for (const Json& item : list_of("sprites", document, "sprites"))
    page.sandboxes.push_back(to_sandbox(item));
  if (document.value("has_more", Json()) == true)
    page.next = next_query("continuation_token", text_of(document, "next_continuation_token"));
  return page;
}

std::string to_exec_query(const Command& command, const std::string& name) {
  const std::string script(command.pty ? kFromFile : kFromStdin);
  std::string query = "?path=%2Fbin%2Fsh&stdin=true";
  for (const std::string& word : {std::string("/bin/sh"), std::string("-c"), script, name})
    query += "&cmd=" + percent_encode(word);
  if (command.pty)
    query += "&tty=true&cols=" + std::to_string(command.pty->cols) +
             "&rows=" + std::to_string(command.pty->rows);
  if (command.keep_on_disconnect) query += std::string("&max_run_after_disconnect=") + kForEver;
  return query;
}

std::string to_first_line(const Command& command) {
  return base64_encode("cd; " + shell::line_of(command)) + "\n";
}

std::string to_script_line(const Command& command, const std::string& name) {
  // The vendor reports no exit status for terminals.
  const std::string script = shell::storing_status(shell::line_of(command), name);
  return "d=${TMPDIR:-/tmp}/.sandgate; mkdir -p \"$d\" && chmod 1777 \"$d\" && umask 077 && "
         "printf %s " +
         base64_encode(script) + " | base64 -d >\"$d/" + name + ".sh\"";
}

WebSocket::Message to_input(std::string bytes, bool pty) {
  if (!pty) bytes.insert(0, 1, Stream::in);
  return {.text = false, .bytes = std::move(bytes)};
}

WebSocket::Message to_end_of_input() {
  return {.text = false, .bytes = std::string(1, Stream::end_of_in)};
}

WebSocket::Message to_resize(PtySize size) {
  const Json order{{"type", "resize"}, {"cols", size.cols}, {"rows", size.rows}};
  return {.text = true, .bytes = order.dump()};
}

Event to_event(const WebSocket::Message& message, bool pty) {
  if (message.text) {
    // Other text messages are notices about ports and the session.
    const Json notice = parse_record(message.bytes);
    if (text_of(notice, "type") != "exit") return {};
    const Json code = notice.value("exit_code", Json());
    if (!code.is_number_integer()) throw unexpected_answer("sprites");
    return {.kind = Event::ended, .status = static_cast<int>(code.get<int64_t>() & 0xFF)};
  }
  if (message.bytes.empty()) return {};
  if (pty) return {.kind = Event::output, .bytes = message.bytes};
  const char stream = message.bytes.front();
  std::string bytes = message.bytes.substr(1);
  if (stream == Stream::ended) {
    const int status = bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front());
    return {.kind = Event::ended, .status = status};
  }
  if ((stream != Stream::out && stream != Stream::err) || bytes.empty()) return {};
  return {.kind = Event::output,
          .channel = stream == Stream::out ? Channel::stdout_ : Channel::stderr_,
          .bytes = std::move(bytes)};
}

std::optional<Session> to_session(const Json& document, const std::string& name) {
  for (const Json& session : list_of("sprites", document, "sessions")) {
    if (text_of(session, "command").find(name) == std::string::npos) continue;
    // The vendor sends a number or a string, depending on its version.
    const Json id = session.value("id", Json());
    return Session{id.is_string() ? id.get<std::string>() : id.dump(),
                   session.value("tty", Json()) == true};
  }
  return std::nullopt;
}

Error read_error(std::string_view provider, const HttpReply& reply) {
  Error error = error_of_status(provider, reply.status, reply.headers);
  if (error.code != ErrorCode::rate_limited) return error;
  const Json document = parse_answer(reply.body);
  // This limit applies until another sprite ends, so waiting does not help.
  if (text_of(document, "error") == "concurrent_sprite_limit_exceeded")
    error.code = ErrorCode::no_capacity;
  const Json wait = field_of(document, "retry_after_seconds");
  if (!error.retry_after && wait.is_number_integer())
    error.retry_after = std::chrono::seconds(std::clamp<int64_t>(wait.get<int64_t>(), 0, 3600));
  return error;
}

}  // namespace sandgate::sprites
