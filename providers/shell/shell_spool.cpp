#include "providers/shell/shell_spool.hpp"

#include <array>

#include "gateway/core/crypto.hpp"
#include "gateway/core/error.hpp"
#include "gateway/core/number_text.hpp"
#include "providers/shell/shell_command.hpp"

namespace sandgate::shell {
namespace {

// $o and $e are the offsets fetched so far, $p the largest piece. The end is checked before the
// sizes, so that the sizes are final once the process has ended. What is printed with the status is
// kept before the outputs are removed, for a fetch that has to be repeated.
constexpr std::string_view kFetch = R"sh(
size() { { wc -c <"$d/$1" || echo 0; } 2>/dev/null; }
print() { tail -c +$(($2 + 1)) "$d/$1" 2>/dev/null | head -c $p | base64 | tr -d '\n'; echo; }
for t in 0.02 0.03 0.05 0.1 0.1 0.2 0.2 0.3 0.5 0.5 1 1 1; do
  s=$(cat "$d/end" 2>/dev/null)
  no=$(size out) ne=$(size err)
  if [ -n "$s" ] || [ $no -gt $o ] || [ $ne -gt $e ]; then break; fi
  sleep $t
done
w=more
if [ ! -d "$d" ]; then w=gone
elif [ -n "$s" ] && [ $no -le $((o + p)) ] && [ $ne -le $((e + p)) ]; then w=$s
fi
l=$(print out $o; print err $e; echo "$w")
if [ -s "$d/told" ]; then cat "$d/told"
else
  if [ "$w" = "$s" ]; then
    { printf '%s\n' "$l" >"$d/last" && mv "$d/last" "$d/told"; } 2>/dev/null
    rm -f "$d/out" "$d/err"
  fi
  printf '%s\n' "$l"
fi
)sh";

// Removes what ended commands have left, once nobody can repeat their last fetch any more.
constexpr std::string_view kTidy =
    R"sh(find "${TMPDIR:-/tmp}/.sandgate" -maxdepth 2 -name told -mmin +5 2>/dev/null |
while IFS= read -r f; do rm -rf "${f%/told}"; done
)sh";

std::string folder_of(const std::string& process_id) {
  return "d=${TMPDIR:-/tmp}/.sandgate/" + quote(process_id) + ".d";
}

}  // namespace

std::string spool_line(const Command& command) {
  // The status file is renamed into place so that it is never seen incomplete.
  return std::string(kTidy) + folder_of(command.process_id) + "; mkdir -p \"$d\" || exit 1; (" +
         line_of(command) +
         ") </dev/null >\"$d/out\" 2>\"$d/err\"; echo $? >\"$d/new\"; mv \"$d/new\" \"$d/end\"";
}

std::string fetch_line(const std::string& process_id, uint64_t out, uint64_t err) {
  return folder_of(process_id) + " o=" + std::to_string(out) + " e=" + std::to_string(err) +
         " p=" + std::to_string(kSpoolPiece) + std::string(kFetch);
}

Fetched read_fetched(const std::string& printed) {
  std::array<std::string_view, 3> lines;
  std::string_view rest = printed;
  for (auto& line : lines) {
    const size_t end = rest.find('\n');
    if (end == std::string_view::npos) throw unexpected_output();
    line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
  }
  auto out = base64_decode(lines[0]), err = base64_decode(lines[1]);
  if (!out || !err || out->size() > kSpoolPiece || err->size() > kSpoolPiece)
    throw unexpected_output();
  Fetched fetched{.out = std::move(*out), .err = std::move(*err)};
  fetched.known = lines[2] != "gone";
  if (!fetched.known || lines[2] == "more") return fetched;
  fetched.status = number_from<int>(lines[2]);
  if (!fetched.status) throw unexpected_output();
  return fetched;
}

}  // namespace sandgate::shell
