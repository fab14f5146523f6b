#include "providers/e2b/e2b_wire.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/number_text.hpp"
#include "providers/shell/shell_command.hpp"
#include "providers/transport/connect_stream.hpp"

namespace sandgate::e2b {
namespace {

Error bad_answer() { return unexpected_answer("e2b"); }

template <class F>
auto reading_e2b(F read) {
  return reading("e2b", std::move(read));
}

// proto3's JSON mapping writes int64 as a string; both forms occur.
int64_t number_of(const Json& document, const char* name) {
  const auto found = document.find(name);
  if (found == document.end()) return 0;
  if (found->is_number_integer()) return found->get<int64_t>();
  const auto number = number_from<int64_t>(found->get<std::string>());
  if (!number) throw bad_answer();
  return *number;
}

bool is_host(const std::string& text) {
  return text.size() < 256 && std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == ':';
         });
}

StartEvent to_output(const Json& data) {
  StartEvent event{.kind = StartEvent::output};
  for (const auto& [name, bytes] : data.items()) {
    if (name == "stderr") event.channel = Channel::stderr_;
    auto decoded = base64_decode(bytes.get<std::string>());
    if (!decoded) throw bad_answer();
    event.bytes = std::move(*decoded);
  }
  return event;
}

}  // namespace

Json to_create(const CreateSpec& spec, const std::string& template_id) {
  if (!spec.network.allow.empty())
    throw Error(ErrorCode::unsupported, "e2b has no rules for hosts and ports");
  Json metadata = spec.metadata;
  put_tags(metadata, spec.sandbox_id, spec.installation);
  return {{"templateID", spec.snapshot.empty() ? template_id : spec.snapshot},
          {"timeout", std::max<int64_t>(1, spec.ttl.count())},
          {"secure", true},
          {"allow_internet_access", spec.network.fallback == NetworkDefault::allow},
          {"metadata", std::move(metadata)},
          {"envVars", spec.env}};
}

BackendSandbox to_sandbox(const Json& document, Isolation isolation, const std::string& region) {
  return reading_e2b([&] {
    BackendSandbox sandbox;
    sandbox.backend_id = document.at("sandboxID").get<std::string>();
    read_tags(field_of(document, "metadata"), sandbox);
    if (text_of(document, "state") == "paused") {
      sandbox.state = BackendState::paused;
      // The mode is told of one sandbox, and not in lists. A memory in which the vendor's agent did
      // not answer any more is never restored.
      const bool disk = text_of(document, "pauseMode") == "filesystem" ||
                        field_of(document, "envdUnresponsiveAtPause") == true;
      sandbox.kept = disk ? Keeps::disk : Keeps::memory;
    }
    sandbox.isolation = isolation;
    sandbox.region = region;
    sandbox.created_at = time_of(document, "startedAt");
    if (document.contains("cpuCount"))
      sandbox.resources =
          Resources{.milli_vcpu = milli_of(document, "cpuCount"),
                    .memory_mib = milli_of(document, "memoryMB") / 1000,
                    .disk_gib = in_units(milli_of(document, "diskSizeMB"), 1'024'000)};
    return sandbox;
  });
}

Access to_access(const Json& document) {
  return reading_e2b([&] {
    Access access{text_of(document, "envdAccessToken"), text_of(document, "domain")};
    if (!is_host(access.domain)) throw bad_answer();
    return access;
  });
}

BackendSnapshot to_snapshot(const Json& document) {
  return reading_e2b([&] {
    return BackendSnapshot{.backend_id = document.at("snapshotID").get<std::string>(),
                           .kept = Keeps::memory};
  });
}

bool is_named(const Json& snapshot, std::string_view name) {
  for (const Json& one : field_of(snapshot, "names")) {
    if (!one.is_string()) continue;
    std::string_view word = one.get_ref<const std::string&>();
    word.remove_prefix(word.rfind('/') + 1);  // npos + 1 is 0
    if (word.substr(0, word.find(':')) == name) return true;
  }
  return false;
}

Json to_start(const Command& command) {
  const auto argv = shell::argv_of(command);
  Json process{{"cmd", argv.front()},
               {"args", std::vector<std::string>(argv.begin() + 1, argv.end())},
               {"envs", command.env}};
  if (!command.cwd.empty()) process["cwd"] = command.cwd;
  Json body{{"process", std::move(process)}, {"stdin", true}};
  if (!command.process_id.empty()) body["tag"] = command.process_id;
  if (command.pty)
    body["pty"] = {{"size", {{"cols", command.pty->cols}, {"rows", command.pty->rows}}}};
  return body;
}

Json to_input(const std::string& bytes, bool pty) {
  return {{"input", {{pty ? "pty" : "stdin", base64_encode(bytes)}}}};
}

StartEvent to_event(const Json& message) {
  return reading_e2b([&] {
    const Json& event = message.at("event");
    if (!event.is_object()) throw bad_answer();
    if (event.contains("start"))
      return StartEvent{.kind = StartEvent::started, .pid = number_of(event["start"], "pid")};
    if (event.contains("data")) return to_output(event["data"]);
    if (!event.contains("end")) return StartEvent{};
    // -1: a signal killed the supervisor.
    const int64_t status = number_of(event["end"], "exitCode");
    return StartEvent{.kind = StartEvent::ended,
                      .status = status < 0 ? 128 + 9 : static_cast<int>(status & 0xFF)};
  });
}

FileEntry to_entry(const Json& info) {
  return reading_e2b([&] {
    FileEntry entry;
    entry.name = text_of(info, "name");
    entry.path = info.at("path").get<std::string>();
    const std::string type = text_of(info, "type");
    entry.type = type == "FILE_TYPE_FILE"        ? FileType::file
                 : type == "FILE_TYPE_DIRECTORY" ? FileType::directory
                 : type == "FILE_TYPE_SYMLINK"   ? FileType::symlink
                                                 : FileType::other;
    if (info.contains("symlinkTarget")) {
      entry.type = FileType::symlink;
      entry.target = text_of(info, "symlinkTarget");
    }
    entry.size = static_cast<uint64_t>(std::max<int64_t>(0, number_of(info, "size")));
    entry.mode = static_cast<uint32_t>(number_of(info, "mode")) & 07777;
    if (const auto time = from_rfc3339(text_of(info, "modifiedTime"))) entry.modified_at = *time;
    return entry;
  });
}

Error read_error(std::string_view provider, const HttpReply& reply) {
  Error error = error_of_status(provider, reply.status, reply.headers);
  if (reply.status != 403) return error;
  error = Error(ErrorCode::no_capacity, "e2b does not allow it to the account");
  error.provider = provider;
  return error;
}

Error read_sandbox_error(std::string_view provider, const HttpReply& reply) {
  Error error = connect::read_error(provider, reply);
  if (reply.status != 502) return error;
  const Json document = parse_answer(reply.body);
  const bool proxy = document.is_object() && document.contains("sandboxId");
  // With a port the sandbox runs, but its server does not listen.
  if (proxy && !document.contains("port")) error.code = ErrorCode::not_found;
  return error;
}

}  // namespace sandgate::e2b
