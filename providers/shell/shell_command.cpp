#include "providers/shell/shell_command.hpp"

#include <csignal>
#include <cstring>

namespace sandgate::shell {
namespace {

constexpr int kTimedOut = 124;
constexpr int kSignalled = 128;

// $0 is the process id, $1 the time limit in seconds or empty, the rest the program. The command
// runs in a session of its own, so that one signal reaches all its processes. The leader's pid is
// stored in a file for later signals. The limit is enforced here, so that it holds without a
// connection.
constexpr std::string_view kSupervisor = R"sh(d=${TMPDIR:-/tmp}/.sandgate f=$d/$0 limit=$1
shift
mkdir -p "$d" 2>/dev/null && chmod 1777 "$d" 2>/dev/null
g=; command -v setsid >/dev/null 2>&1 && g=setsid
exec 3<&0
$g sh -c 'exec "$@"' sh "$@" <&3 3<&- &
c=$!
exec 3<&- </dev/null 2>/dev/null
echo $c 2>/dev/null >"$f"
t= w=
end() { kill -9 -$c 2>/dev/null || kill -9 $c 2>/dev/null; }
trap 't=1; end' USR1
if [ -n "$limit" ]; then
  $g sh -c 'sleep "$1"; kill -s USR1 "$2"' sh "$limit" $$ >/dev/null 2>&1 &
  w=$!
fi
wait $c
s=$?
while kill -0 $c 2>/dev/null; do wait $c; s=$?; done
if [ -n "$w" ]; then kill -9 -$w 2>/dev/null || kill -9 $w 2>/dev/null; fi
rm -f "$f"
[ -n "$t" ] && s=124
exit $s
)sh";

// A terminal is a session already, and ends all its processes when it closes.
constexpr std::string_view kInTerminal = R"sh(d=${TMPDIR:-/tmp}/.sandgate
mkdir -p "$d" 2>/dev/null && chmod 1777 "$d" 2>/dev/null
echo $$ 2>/dev/null >"$d/$0"
exec "$@"
)sh";

// Reads the leader's pid into $c.
std::string leader_line(const std::string& process_id) {
  // A command that has just started may not have stored its pid yet.
  return "f=${TMPDIR:-/tmp}/.sandgate/" + quote(process_id) +
         "; for i in 1 2 3 4 5; do [ -s \"$f\" ] && break; sleep 0.1; done; "
         "read -r c <\"$f\" 2>/dev/null || exit 1; ";
}

std::string seconds_of(std::chrono::milliseconds limit) {
  if (limit.count() <= 0) return "";
  char text[32];
  std::snprintf(text, sizeof(text), "%lld.%03d", static_cast<long long>(limit.count() / 1000),
                static_cast<int>(limit.count() % 1000));
  return text;
}

// The supervisor creates the directory.
std::string status_file(const std::string& name) {
  return "\"${TMPDIR:-/tmp}/.sandgate/" + name + ".end\"";
}

}  // namespace

std::string quote(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word.substr(0, word.find('\0'))) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string quote(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) {
    if (!line.empty()) line += ' ';
    line += quote(word);
  }
  return line;
}

std::vector<std::string> argv_of(const Command& command) {
  std::vector<std::string> program = command.argv;
  if (!command.shell.empty()) program = {"/bin/sh", "-c", command.shell};
  const std::string process = command.process_id.empty() ? "none" : command.process_id;
  if (command.pty) {
    std::vector<std::string> argv{"/bin/sh", "-c", std::string(kInTerminal), process};
    argv.insert(argv.end(), program.begin(), program.end());
    return argv;
  }
  std::vector<std::string> argv{"/bin/sh", "-c", std::string(kSupervisor), process,
                                seconds_of(command.timeout)};
  argv.insert(argv.end(), program.begin(), program.end());
  return argv;
}

std::string exports_of(const std::map<std::string, std::string>& env, std::string_view end) {
  std::string exports;
  for (const auto& [name, value] : env)
    exports.append("export ").append(name).append("=").append(quote(value)).append(end);
  return exports;
}

std::string line_of(const Command& command) {
  std::string line;
  if (!command.cwd.empty())
    line += "cd -- " + quote(command.cwd) + " 2>/dev/null || exit " + std::to_string(kNoDirectory) +
            "; ";
  return line + exports_of(command.env, "; ") + "exec " + quote(argv_of(command));
}

std::string signal_line(const std::string& process_id, int number) {
  // This form works in dash, bash and busybox.
  const std::string kill = "kill -" + std::to_string(number) + " ";
  return leader_line(process_id) + kill + "-\"$c\" 2>/dev/null || " + kill + "\"$c\" 2>/dev/null";
}

std::string resize_line(const std::string& process_id, PtySize size) {
  // The subshell must not be the last command: a shell may exec that, and a session leader that
  // opens the terminal would make it its controlling terminal.
  return leader_line(process_id) + "( stty cols " + std::to_string(size.cols) + " rows " +
         std::to_string(size.rows) + " ) <\"/proc/$c/fd/0\" 2>/dev/null; s=$?; exit $s";
}

std::string storing_status(const std::string& line, const std::string& name) {
  return "(cd; " + line + "); s=$?; echo $s >" + status_file(name) + "; exit $s";
}

std::string stored_status_line(const std::string& name) {
  return "f=" + status_file(name) + "; cat \"$f\" && rm -f \"$f\"";
}

ProcessExit exit_of(int status, const Command& command, std::chrono::milliseconds duration) {
  status = status < 0 ? kSignalled + SIGKILL : status & 0xFF;
  ProcessExit exit;
  exit.exit_code = status;
  exit.duration = duration;
  exit.timed_out =
      status == kTimedOut && command.timeout.count() > 0 && duration >= command.timeout;
  if (status > kSignalled && status < kSignalled + 65)
    if (const char* name = ::sigabbrev_np(status - kSignalled))
      exit.signal = std::string("SIG") + name;
  return exit;
}

Error unexpected_output() {
  return Error(ErrorCode::unavailable, "the sandbox printed something else");
}

}  // namespace sandgate::shell
