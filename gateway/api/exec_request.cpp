#include "gateway/api/exec_request.hpp"

#include <csignal>

#include "gateway/core/crypto.hpp"
#include "gateway/core/document_reader.hpp"
#include "gateway/core/field_text.hpp"
#include "registry/document_fields.hpp"

namespace sandgate::api {
namespace {

constexpr int64_t kMaxTimeoutMs = 7LL * 24 * 3600 * 1000;
constexpr int64_t kMaxOutputBytes = 16 << 20;
constexpr TextRule kArgument{0, kMaxArgumentBytes};
constexpr TextRule kPath{1, 4095};

struct SignalName {
  std::string_view name;
  int number;
};
constexpr SignalName kSignals[] = {
    {"HUP", SIGHUP},   {"INT", SIGINT},       {"QUIT", SIGQUIT}, {"ILL", SIGILL},
    {"TRAP", SIGTRAP}, {"ABRT", SIGABRT},     {"BUS", SIGBUS},   {"FPE", SIGFPE},
    {"KILL", SIGKILL}, {"USR1", SIGUSR1},     {"SEGV", SIGSEGV}, {"USR2", SIGUSR2},
    {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},     {"TERM", SIGTERM}, {"STKFLT", SIGSTKFLT},
    {"CHLD", SIGCHLD}, {"CONT", SIGCONT},     {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
    {"TTIN", SIGTTIN}, {"TTOU", SIGTTOU},     {"URG", SIGURG},   {"XCPU", SIGXCPU},
    {"XFSZ", SIGXFSZ}, {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH},
    {"IO", SIGIO},     {"PWR", SIGPWR},       {"SYS", SIGSYS},
};

PtySize read_size(ObjectReader& reader, bool required) {
  PtySize size;
  if (required) {
    reader.require("cols");
    reader.require("rows");
  }
  if (const auto cols = reader.integer("cols", 1, 1000)) size.cols = static_cast<uint16_t>(*cols);
  if (const auto rows = reader.integer("rows", 1, 1000)) size.rows = static_cast<uint16_t>(*rows);
  reader.finish();
  return size;
}

void read_program(ObjectReader& reader, Command& command) {
  const Json* program = reader.any("command");
  if (program && program->is_string())
    reader.problem(
        "command",
        "must be an array of a program and its arguments; a command line goes into shell");
  else
    command.argv = reader.texts("command", 4096, kArgument).value_or(std::vector<std::string>{});
  command.shell = reader.text("shell", {1, kArgument.max}).value_or("");
  if (reader.has("command") == reader.has("shell"))
    reader.problem("command", "give exactly one of command and shell");
  else if (program && program->is_array() &&
           (program->empty() || (program->front().is_string() && program->front() == "")))
    reader.problem("command", "must name a program");
}

void read_environment(ObjectReader& reader, Command& command, Problems& problems) {
  command.env =
      reader.text_map("env", 1024, kArgument).value_or(std::map<std::string, std::string>{});
  check_env_names(command.env, reader, problems);
  check_env_sizes(command.env, reader.path_of("env"), problems);
}

std::optional<std::string> read_input(ObjectReader& reader) {
  const auto base64 = reader.text("stdin_base64", {0, 32 << 20});
  if (reader.has("stdin") && reader.has("stdin_base64"))
    reader.problem("stdin_base64", "give only one of stdin and stdin_base64");
  if (base64) {
    auto bytes = base64_decode(*base64);
    if (!bytes) reader.problem("stdin_base64", "is not base64");
    return bytes;
  }
  // Not read by reader.text(), which restricts characters: stdin may contain NUL.
  const Json* text = reader.any("stdin");
  if (text && !text->is_null() && !text->is_string()) reader.problem("stdin", "must be a string");
  return text && text->is_string() ? std::optional(text->get<std::string>()) : std::nullopt;
}

}  // namespace

void check_env_sizes(const std::map<std::string, std::string>& env, const std::string& path,
                     Problems& problems) {
  for (const auto& [name, value] : env)
    if (name.size() + 1 + value.size() > kMaxArgumentBytes)
      problems.add(
          path + "/" + pointer_token(name),
          "must have at most " + std::to_string(kMaxArgumentBytes) + " bytes as NAME=value");
}

ExecRequest exec_request_from(const Json& body) {
  DocumentReader reader(body);
  ExecRequest request;
  Command& command = request.command;
  read_program(reader, command);
  read_environment(reader, command, reader.problems());
  command.cwd = reader.text("cwd", kPath).value_or("");
  command.user = reader.text("user", {1, 32}).value_or("");
  request.input = read_input(reader);
  command.timeout =
      std::chrono::milliseconds(reader.integer("timeout_ms", 1, kMaxTimeoutMs).value_or(0));
  command.background = reader.boolean("background").value_or(false);
  if (const Json* size = reader.object("pty")) {
    ObjectReader pty(*size, reader.problems(), reader.path_of("pty"));
    command.pty = read_size(pty, /*required=*/false);
  }
  const auto word = reader.word("on_disconnect", {"kill", "keep"});
  command.keep_on_disconnect = word ? *word == "keep" : command.background;
  if (command.background && !command.keep_on_disconnect)
    reader.problem("on_disconnect",
                   "nobody is connected to a program in the background: give "
                   "keep, or leave it out");
  if (const auto most = reader.integer("max_output_bytes", 1, kMaxOutputBytes))
    request.max_output_bytes = static_cast<size_t>(*most);
  reader.finish_or_throw();
  return request;
}

std::optional<int> signal_from(const Json& value) {
  if (value.is_number()) {
    const int64_t number = whole_number(value).value_or(0);
    return number >= 1 && number <= 64 ? std::optional(static_cast<int>(number)) : std::nullopt;
  }
  if (!value.is_string()) return std::nullopt;
  std::string_view name = value.get_ref<const std::string&>();
  if (starts_with_ignoring_case(name, "SIG")) name.remove_prefix(3);
  for (const auto& signal : kSignals)
    if (equal_ignoring_case(name, signal.name)) return signal.number;
  return std::nullopt;
}

int signal_request_from(const Json& body) {
  DocumentReader reader(body);
  const Json* value = reader.any("signal");
  const auto number = value ? signal_from(*value) : std::nullopt;
  if (!number) reader.problem("signal", "must be a signal's name or number");
  reader.finish_or_throw();
  return *number;
}

PtySize pty_size_from(const Json& body) {
  Problems problems;
  ObjectReader reader(body, problems);
  const PtySize size = read_size(reader, /*required=*/true);
  problems.throw_if_any();
  return size;
}

}  // namespace sandgate::api
