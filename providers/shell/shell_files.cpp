#include "providers/shell/shell_files.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "gateway/core/crypto.hpp"
#include "gateway/core/file_time.hpp"
#include "gateway/core/random.hpp"
#include "providers/shell/shell_command.hpp"

namespace sandgate::shell {
namespace {

// Exit statuses of the lines below.
enum Status { done = 0, no_such = 44, wrong_kind = 45, in_the_way = 46, stays = 47 };

// Terminates a path and a link's target in the output. Paths never contain "//".
constexpr std::string_view kEnd = "\n//\n";

// Prints the entry of an absolute path.
constexpr std::string_view kEntry =
    R"(e() { stat $L -c '%f %s %Y' -- "$1" && printf '%s\n//\n' "$1" && { [ -L "$1" ] && readlink -- "$1"; printf '//\n'; }; }; )";
constexpr std::string_view kThere = R"(there() { [ -e "$1" ] || [ -L "$1" ] || exit 44; }; )";
constexpr std::string_view kStays = R"([ "$p" -ef / ] || [ "$p" -ef "$HOME" ])";

// Prints the output and exit status of `body` as base64.
std::string wrapped(const std::string& body) {
  return "{ ( L=; " + std::string(kEntry) + std::string(kThere) + body +
         " ) 2>/dev/null; printf '=%d' $?; } | base64";
}

Error error_of_end(int status) {
  switch (status) {
    case no_such:
      return Error(ErrorCode::not_found, "no such file or directory");
    case wrong_kind:
      return Error::invalid("/path", "is of another kind");
    case in_the_way:
      return Error(ErrorCode::conflict, "something is in the way");
    case stays:
      return root_and_home_stay();
    default:
      return Error(ErrorCode::invalid, "the sandbox refused the change");
  }
}

FileType type_of(unsigned mode) {
  if (S_ISREG(mode)) return FileType::file;
  if (S_ISDIR(mode)) return FileType::directory;
  return S_ISLNK(mode) ? FileType::symlink : FileType::other;
}

std::string_view take_until_end(std::string_view& text) {
  const size_t end = text.find(kEnd);
  if (end == std::string_view::npos) throw unexpected_output();
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end + kEnd.size());
  return part;
}

FileEntry take_entry(std::string_view& text) {
  const size_t line = text.find('\n');
  unsigned mode = 0;
  unsigned long long size = 0;
  long long seconds = 0;
  const std::string head(text.substr(0, std::min<size_t>(line, 100)));
  if (line == std::string_view::npos ||
      std::sscanf(head.c_str(), "%x %llu %lld", &mode, &size, &seconds) != 3)
    throw unexpected_output();
  text.remove_prefix(line + 1);
  FileEntry entry;
  entry.path = take_until_end(text);
  entry.name = entry.path.substr(entry.path.rfind('/') + 1);
  entry.type = type_of(mode);
  entry.mode = mode & 07777;
  entry.size = size;
  entry.modified_at = file_time(seconds);
  // Without a target the terminator follows at once, without its leading newline.
  if (text.starts_with(kEnd.substr(1)))
    text.remove_prefix(kEnd.size() - 1);
  else
    entry.target = std::string(take_until_end(text));
  return entry;
}

}  // namespace

std::string rooted(std::string path) {
  if (path == "~" || path.starts_with("~/")) path.erase(0, path.size() > 1 ? 2 : 1);
  std::string clean;
  for (const char c : path)
    if (c != '/' || clean.empty() || clean.back() != '/') clean += c;
  while (clean.size() > 1 && clean.back() == '/') clean.pop_back();
  if (clean.empty()) return "\"${HOME:-/}\"";
  return clean.starts_with('/') ? quote(clean) : "\"${HOME%/}\"/" + quote(clean);
}

std::string stat_line(const std::string& path, bool follow) {
  return wrapped("p=" + rooted(path) + "; there \"$p\"; " + (follow ? "L=-L; " : "") + "e \"$p\"");
}

std::string list_line(const std::string& path, int depth) {
  // The shells that find starts need the function as well.
  return wrapped("p=" + rooted(path) + "; there \"$p\"; [ -d \"$p\" ] || exit 45; " +
                 "find \"$p\" -mindepth 1 -maxdepth " + std::to_string(std::clamp(depth, 1, 100)) +
                 " -exec sh -c " +
                 quote("L=; " + std::string(kEntry) + "for f; do e \"$f\"; done") + " sh {} +");
}

std::string make_directory_line(const std::string& path) {
  return wrapped("p=" + rooted(path) +
                 "; [ -e \"$p\" ] && [ ! -d \"$p\" ] && exit 45; mkdir -p \"$p\" && e \"$p\"");
}

std::string move_line(const std::string& from, const std::string& to) {
  return wrapped("p=" + rooted(from) + "; t=" + rooted(to) +
                 "; there \"$p\"; [ -d \"$t\" ] && exit 46; mkdir -p \"$(dirname \"$t\")\" && "
                 "mv -f \"$p\" \"$t\" && e \"$t\"");
}

std::string remove_line(const std::string& path, bool recursive) {
  const std::string directory = recursive ? "rm -rf \"$p\"" : "rmdir \"$p\" || exit 46";
  return wrapped("p=" + rooted(path) +
                 "; there \"$p\"; if [ -d \"$p\" ] && [ ! -L \"$p\" ]; then " +
                 std::string(kStays) + " && exit 47; " + directory + "; else rm -f \"$p\"; fi");
}

std::string stays_line(const std::string& path) {
  return "p=" + rooted(path) + "; " + std::string(kStays);
}

Error root_and_home_stay() { return Error(ErrorCode::forbidden, "the root and the home stay"); }

std::string publish_line(const std::string& uploaded, const std::string& path, uint32_t mode) {
  return wrapped("p=" + rooted(uploaded) + "; t=" + rooted(path) +
                 "; there \"$p\"; if [ -d \"$t\" ]; then rm -f \"$p\"; exit 45; fi; chmod " +
                 octal_mode(mode) + " \"$p\" && mv -f \"$p\" \"$t\" && e \"$t\"");
}

std::vector<FileEntry> read_entries(const std::string& output) {
  std::string packed;
  for (const char c : output)
    if (!std::isspace(static_cast<unsigned char>(c))) packed += c;
  const auto bytes = base64_decode(packed);
  const size_t end = bytes ? bytes->rfind('=') : std::string::npos;
  if (end == std::string::npos) throw unexpected_output();
  const int status = std::atoi(bytes->c_str() + end + 1);
  if (status != done) throw error_of_end(status);
  std::string_view text = std::string_view(*bytes).substr(0, end);
  std::vector<FileEntry> entries;
  while (!text.empty()) entries.push_back(take_entry(text));
  return entries;
}

Task<FileEntry> ShellFiles::one(std::string line) {
  const std::string output = co_await run_(std::move(line));
  auto entries = read_entries(output);
  if (entries.size() != 1) throw unexpected_output();
  co_return std::move(entries.front());
}

Task<FileEntry> ShellFiles::stat(std::string path, bool follow) {
  return one(stat_line(path, follow));
}

Task<std::vector<FileEntry>> ShellFiles::list(std::string path, int depth) {
  std::string line = list_line(path, depth);
  const std::string output = co_await run_(std::move(line));
  auto entries = read_entries(output);
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  co_return entries;
}

Task<FileEntry> ShellFiles::make_directory(std::string path) {
  return one(make_directory_line(path));
}

Task<FileEntry> ShellFiles::move(std::string from, std::string to) {
  return one(move_line(from, to));
}

Task<void> ShellFiles::remove(std::string path, bool recursive) {
  std::string line = remove_line(path, recursive);
  const std::string output = co_await run_(std::move(line));
  read_entries(output);
}

Task<std::string> ShellFiles::place_for(std::string path) {
  const size_t slash = path.rfind('/');
  const std::string name = path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") throw Error::invalid("/path", "names no file");
  const std::string parent =
      slash == std::string::npos ? "" : path.substr(0, std::max<size_t>(slash, 1));
  const FileEntry directory = co_await make_directory(parent);
  const std::string start = directory.path == "/" ? "/" : directory.path + "/";
  co_return start + ".sandgate-" + random_hex(8);
}

Task<FileEntry> ShellFiles::publish(std::string uploaded, std::string path, uint32_t mode) {
  return one(publish_line(uploaded, path, mode));
}

}  // namespace sandgate::shell
