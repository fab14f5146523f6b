#include "gateway/cli/commands/copy.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "gateway/cli/terminal/pipe.hpp"
#include "gateway/cli/terminal/progress.hpp"
#include "gateway/cli/tree.hpp"
#include "gateway/cli/upload_source.hpp"
#include "gateway/core/fd.hpp"
#include "gateway/core/ids.hpp"

namespace sandgate::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStream = "-";  // as a local path: standard input or output

std::string files_path(const CopyPath& place, const std::string& verb = "") {
  return sandbox_path(place.sandbox) + "/files" + verb + "?path=" + percent_encode(place.path);
}

// A target "dir/" means into the directory, under the source's name.
std::string target_path(const std::string& target, const std::string& source) {
  if (!target.empty() && !target.ends_with('/')) return target;
  std::string name = source;
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  return target + fs::path(name).filename().string();
}

void upload_file(const Context& context, const Client& client, const fs::path& source,
                 const CopyPath& target) {
  UploadSource file(source);
  const auto mode = file.mode();
  Progress progress(context.console(), source.filename().string(), file.size());
  client.call({.method = "PUT",
               .path = files_path(target) + (mode ? "&mode=" + *mode : ""),
               .content_type = "application/octet-stream",
               .upload = [&](char* into, size_t room) { return file.read(into, room); },
               .upload_size = file.size(),
               .on_progress = [&](uint64_t sent, uint64_t) { progress.update(sent); }});
}

void upload_stream(const Client& client, const CopyPath& target) {
  if (target.path.empty() || target.path.ends_with('/'))
    throw CLI::ValidationError("cp", "name the file that standard input becomes, as ID:PATH");
  client.call({.method = "PUT",
               .path = files_path(target),
               .content_type = "application/octet-stream",
               .upload = [](char* into, size_t room) {
                 std::cin.read(into, static_cast<std::streamsize>(room));
                 if (std::cin.bad()) throw Error(ErrorCode::invalid, "cannot read standard input");
                 return static_cast<size_t>(std::cin.gcount());
               }});
}

void upload_tree(const Context& context, const Client& client, const fs::path& source,
                 const CopyPath& target) {
  Progress progress(context.console(), source.filename().string(), bytes_below(source));
  client.post(sandbox_path(target.sandbox) + "/files/mkdir", {{"path", target.path}});
  std::vector<fs::path> left_out;
  Pipe tar(Pipe::Direction::from_thread, [&](int fd) { left_out = pack(source, fd); });
  client.call({.method = "PUT",
               .path = files_path(target, "/archive"),
               .content_type = "application/x-tar",
               .upload = [&](char* into, size_t room) { return tar.read(into, room); },
               .on_progress = [&](uint64_t sent, uint64_t) { progress.update(sent); }});
  tar.finish();
  for (const fs::path& name : left_out)
    context.console().err << "left out: " << printable(name.string())
                          << " is no file, directory or symbolic link\n";
}

Error not_all_written(const fs::path& target) {
  return {ErrorCode::quota_exceeded, "cannot write all of " + target.string()};
}

// The mode of a downloaded file, which its entry in a header tells; empty without one.
std::optional<fs::perms> permissions_from(const Reply& reply) {
  const auto entry = reply.headers.find("x-sandgate-entry");
  if (entry == reply.headers.end()) return std::nullopt;
  const std::string digits = cell(Json::parse(entry->second, nullptr, false), "/mode");
  unsigned bits = 0;
  const char* const end = digits.data() + digits.size();
  if (std::from_chars(digits.data(), end, bits, 8).ptr != end || digits.empty())
    return std::nullopt;
  return static_cast<fs::perms>(bits) & fs::perms::all;
}

// A new file, whatever stood there: a link that somebody put at this known name leads nowhere. Its
// mode is told when it is complete, so until then only its owner may read it.
std::ofstream create_private(const fs::path& path) {
  std::error_code nothing_there;
  fs::remove(path, nothing_there);
  const Fd created(::open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600));
  if (!created) throw fs::filesystem_error("create", path, {errno, std::generic_category()});
  return std::ofstream(path, std::ios::binary);
}

// Writes what arrives to `file`, and closes it.
Reply fetch(const Context& context, const Client& client, const CopyPath& source, const Json& entry,
            const fs::path& target, std::ofstream& file) {
  Progress progress(context.console(), target.filename().string(),
                    entry.value("size", uint64_t{0}));
  const auto write = [&](std::string_view bytes) {
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file) throw not_all_written(target);
  };
  Reply reply =
      client.call({.path = files_path(source),
                   .download = write,
                   .on_progress = [&](uint64_t, uint64_t received) { progress.update(received); }});
  file.close();
  if (!file) throw not_all_written(target);
  return reply;
}

// Whether a pipe, a device or a link to a file is there, such as /dev/stdout: it is written to, as
// cp does. A file in its place would take it from everybody else.
bool takes_bytes(const fs::path& target) {
  std::error_code absent;
  const fs::file_status status = fs::status(target, absent);
  if (!fs::exists(status) || fs::is_directory(status)) return false;
  return !fs::is_regular_file(status) || fs::is_symlink(fs::symlink_status(target));
}

void download_bytes(const Context& context, const Client& client, const CopyPath& source,
                    const Json& entry, const fs::path& target) {
  std::ofstream file(target, std::ios::binary);
  if (!file) throw fs::filesystem_error("open", target, {errno, std::generic_category()});
  fetch(context, client, source, entry, target, file);
}

void download_file(const Context& context, const Client& client, const CopyPath& source,
                   const Json& entry, const fs::path& target) {
  // Written to a temporary file and renamed, so that a broken copy never looks complete.
  const fs::path partial = target.string() + ".sandgate-partial";
  std::ofstream file = create_private(partial);
  Reply reply;
  try {
    reply = fetch(context, client, source, entry, target, file);
  } catch (const Error&) {
    fs::remove(partial);
    throw;
  }
  std::error_code unsupported;  // by the file system, which then has modes of its own
  if (const auto mode = permissions_from(reply)) fs::permissions(partial, *mode, unsupported);
  fs::rename(partial, target);
}

void download_stream(const Context& context, const Client& client, const CopyPath& source) {
  client.call({.path = files_path(source), .download = [&](std::string_view bytes) {
                 write_out(context.console().out, bytes);
               }});
}

void download_tree(const Context& context, const Client& client, const CopyPath& source,
                   const fs::path& target) {
  fs::create_directories(target);
  Progress progress(context.console(), target.filename().string(), std::nullopt);
  Pipe tar(Pipe::Direction::to_thread, [&](int fd) { unpack(fd, target); });
  client.call({.path = files_path(source, "/archive"),
               .download = [&](std::string_view bytes) { tar.write(bytes); },
               .on_progress = [&](uint64_t, uint64_t received) { progress.update(received); }});
  tar.finish();
}

bool is_directory(const Client& client, const CopyPath& place) {
  try {
    return cell(client.get(files_path(place, "/stat")), "/type") == "directory";
  } catch (const Error& error) {
    if (error.code != ErrorCode::not_found) throw;
    return false;
  }
}

void upload(const Context& context, const Client& client, const std::string& source,
            CopyPath target) {
  if (source == kStream) return upload_stream(client, target);
  const bool named = !target.path.empty() && !target.path.ends_with('/');
  if (named && is_directory(client, target)) target.path += '/';
  target.path = target_path(target.path, source);
  if (fs::is_directory(source)) return upload_tree(context, client, source, target);
  upload_file(context, client, source, target);
}

void download(Context& context, const Client& client, CopyPath source, const std::string& target) {
  if (source.path.empty()) source.path = ".";  // as a target, "ID:" is the working directory, too
  if (target == kStream) return download_stream(context, client, source);
  const Json entry = client.get(files_path(source, "/stat"));
  const bool into = target.ends_with('/') || fs::is_directory(target);
  const fs::path path = into ? fs::path(target) / target_path("", source.path) : fs::path(target);
  const bool is_tree = cell(entry, "/type") == "directory";
  // An interrupt ends this at once, since a pipe may have to wait for its reader.
  if (!is_tree && takes_bytes(path)) return download_bytes(context, client, source, entry, path);
  // What an interrupt leaves of a file is taken away.
  context.interruptible([&] {
    if (is_tree) return download_tree(context, client, source, path);
    download_file(context, client, source, entry, path);
  });
}

// What is wrong with two paths of which none, or each, is in a sandbox.
std::string wrong_places(const std::string& from, const std::string& to) {
  for (const std::string& text : {from, to}) {
    const std::string start = text.substr(0, text.find(':'));
    if (start.size() < text.size() && start.starts_with("sb") && !is_id("sb", start))
      return "'" + start + "' is no sandbox's id";
  }
  return "one of the two must be in a sandbox, as ID:PATH";
}

void copy(Context& context, const std::string& from, const std::string& to) {
  const Client client = context.client();
  const CopyPath source = copy_path_from(from), target = copy_path_from(to);
  if (source.sandbox.empty() == target.sandbox.empty())
    throw CLI::ValidationError("cp", wrong_places(from, to));
  if (source.sandbox.empty())
    upload(context, client, source.path, target);
  else
    download(context, client, source, target.path);
}

}  // namespace

CopyPath copy_path_from(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon != std::string::npos && is_id("sb", text.substr(0, colon)))
    return {text.substr(0, colon), text.substr(colon + 1)};
  return {"", text};
}

void add_copy_command(CLI::App& app, const ContextPtr& context) {
  struct Options {
    std::string from, to;
  };
  auto options = std::make_shared<Options>();
  auto* command = app.add_subcommand("cp", "Copy a file or directory into or out of a sandbox");
  command->add_option("SRC", options->from, "Local path, or ID:PATH; - is standard input")
      ->required();
  command
      ->add_option("DST", options->to,
                   "ID:PATH, or local path; a directory keeps the name; - is standard output")
      ->required();
  context->on(*command, [context, options] {
    copy(*context, options->from, options->to);
    if (context->json() && options->to != kStream)
      context->print({{"from", options->from}, {"to", options->to}});
  });
}

}  // namespace sandgate::cli
