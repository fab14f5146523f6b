#include "providers/shell/shell_script.hpp"

#include "gateway/core/crypto.hpp"

namespace sandgate::shell {
namespace {

constexpr std::string_view kScripts =
    "d=${TMPDIR:-/tmp}/.sandgate; mkdir -p \"$d\" 2>/dev/null; chmod 1777 \"$d\" 2>/dev/null; ";

// Input ends with a line that is a dot.
constexpr std::string_view kTakeLines = R"(f=$d/in.$$; rm -f "$f"; mkfifo "$f" || exit 126
exec 3<&0
while IFS= read -r s && [ "$s" != . ]; do printf %s "$s" | base64 -d; done <&3 3<&- >"$f" &
p=$!
)";

std::string file_of(const std::string& name) { return "\"$d/" + name + ".sh\""; }

}  // namespace

const char* const kReadScript = "IFS= read -r s; eval \"$(printf %s \"$s\" | base64 -d)\"";

std::string script_line(std::string_view script) { return base64_encode(script) + "\n"; }

std::string with_input_lines(const std::string& script) {
  return std::string(kScripts) + std::string(kTakeLines) + "(" + script +
         ") <\"$f\" 3<&-\ns=$?; kill $p 2>/dev/null; rm -f \"$f\"; exit $s";
}

std::string input_line(std::string_view bytes) { return base64_encode(bytes) + "\n"; }

std::string keep_script(const std::string& script, const std::string& name) {
  return "umask 077; " + std::string(kScripts) + "printf %s " +
         base64_encode("rm -f " + file_of(name) + "; " + script) + " | base64 -d > " +
         file_of(name);
}

std::string run_kept_script(const std::string& name) {
  std::string line(kScripts);
  line += ". " + file_of(name);
  return line;
}

}  // namespace sandgate::shell
