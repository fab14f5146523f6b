#include "providers/sandgate/sandgate_wire.hpp"

#include <algorithm>
#include <array>
#include <climits>

#include "gateway/core/crypto.hpp"
#include "gateway/core/utf8.hpp"
#include "providers/vendor_json.hpp"

namespace sandgate::wire {
namespace {

constexpr size_t kMaxDetail = 500;

Time time_at(const Json& document, const char* name) {
  const auto time = from_rfc3339(document.at(name).get<std::string>());
  if (!time) throw unexpected_answer("sandgate");
  return *time;
}

int64_t whole_at(const Json& document, const char* name, int64_t least, int64_t most) {
  const auto number = whole_number(document.at(name));
  if (!number || *number < least || *number > most) throw unexpected_answer("sandgate");
  return *number;
}

int64_t count_at(const Json& document, const char* name) {
  return whole_at(document, name, 0, INT64_MAX);
}

int64_t scaled_at(const Json& document, const char* name, double scale) {
  const double value = document.at(name).get<double>() * scale;
  if (!(value >= 0 && value < 0x1p62)) throw unexpected_answer("sandgate");
  return static_cast<int64_t>(value);
}

ProcessExit to_exit(const Json& document) {
  ProcessExit exit;
  exit.exit_code = static_cast<int>(whole_at(document, "exit_code", INT_MIN, INT_MAX));
  exit.signal = text_of(document, "signal");
  exit.timed_out = document.value("timed_out", false);
  if (document.contains("duration_ms"))
    exit.duration = std::chrono::milliseconds(count_at(document, "duration_ms"));
  return exit;
}

OutputChunk to_chunk(const ServerEvent& event) {
  OutputChunk chunk;
  chunk.channel = event.name == "stderr" ? Channel::stderr_ : Channel::stdout_;
  auto bytes = base64_decode(parse_record(event.data).at("data").get<std::string>());
  if (!bytes) throw unexpected_answer("sandgate");
  chunk.bytes = std::move(*bytes);
  try {
    chunk.end_offset = std::stoull(event.id);
  } catch (const std::exception&) {
    throw unexpected_answer("sandgate");
  }
  return chunk;
}

Json to_resources(const Resources& resources) {
  // Multiples of a quarter are exact in binary.
  return {{"vcpu", static_cast<double>(resources.milli_vcpu) / 1000},
          {"memory_mib", resources.memory_mib},
          {"disk_gib", resources.disk_gib}};
}

// An end by a call or a budget there is none that anybody here knows of.
std::optional<RuledEnd> to_ruled_end(const Json& document) {
  const std::string reason = text_of(document, "ended_reason");
  if (reason != "expired" && reason != "idle") return std::nullopt;
  return RuledEnd{reason == "idle", from_rfc3339(text_of(document, "ended_at"))};
}

bool sandbox_state_is_known(const std::string& state) {
  for (const char* word :
       {"creating", "running", "pausing", "paused", "resuming", "stopping", "stopped", "failed"})
    if (state == word) return true;
  return false;
}

Error error_of_problem(std::string_view provider, const Json& problem, Error fallback) {
  if (!problem.is_object()) return fallback;
  const auto code = error_code_from(text_of(problem, "code"));
  if (!code) return fallback;
  const std::string whole = text_of(problem, "detail");
  const std::string detail(without_cut_character(std::string_view(whole).substr(0, kMaxDetail)));
  // Refusals of this gateway's key or budget do not concern the caller's own key or budget.
  const bool of_sandbox = text_of(problem, "refused_by") == "sandbox";
  switch (*code) {
    case ErrorCode::forbidden:
      if (of_sandbox) break;
      return fallback;
    case ErrorCode::unauthenticated:
      return fallback;
    case ErrorCode::budget_exceeded:
    case ErrorCode::no_capacity:
      fallback.code = ErrorCode::no_capacity;
      return fallback;
    case ErrorCode::internal:
      fallback.code = ErrorCode::unavailable;
      return fallback;
    default:
      break;
  }
  Error error(*code, detail.empty() ? fallback.what() : detail);
  error.provider = provider;
  error.retry_after = fallback.retry_after;
  // `forbidden` here is the sandbox's refusal, so the details of a refused key do not apply.
  if (*code != ErrorCode::forbidden) error.details = fallback.details;
  if (const auto fields = problem.find("fields"); fields != problem.end() && fields->is_array())
    for (const Json& field : *fields)
      if (field.is_object() && error.fields.size() < 32)
        error.fields.push_back({text_of(field, "path"), text_of(field, "message")});
  return error;
}

}  // namespace

Json to_create(const CreateSpec& spec, const std::string& profile) {
  Json metadata = spec.metadata;
  put_tags(metadata, spec.sandbox_id, spec.installation);
  Json network{{"default", kNetworkDefaultWords.of(spec.network.fallback)},
               {"allow", spec.network.allow}};
  Json body{{"profile", profile},
            {"env", spec.env},
            {"metadata", std::move(metadata)},
            {"ttl_seconds", spec.ttl.count()},
            {"resources", to_resources(spec.resources)},
            {"network", std::move(network)}};
  if (!spec.image.empty()) body["image"] = spec.image;
  if (!spec.region.empty()) body["placement"] = {{"region", spec.region}};
  if (!spec.snapshot.empty()) body["snapshot"] = spec.snapshot;
  return body;
}

Json to_exec(const Command& command) {
  const bool keeps = command.keep_on_disconnect || command.background;
  Json body{{"background", command.background}, {"on_disconnect", keeps ? "keep" : "kill"}};
  if (command.shell.empty())
    body["command"] = command.argv;
  else
    body["shell"] = command.shell;
  if (!command.cwd.empty()) body["cwd"] = command.cwd;
  if (!command.env.empty()) body["env"] = command.env;
  if (!command.user.empty()) body["user"] = command.user;
  if (command.pty) body["pty"] = {{"cols", command.pty->cols}, {"rows", command.pty->rows}};
  if (command.timeout.count() > 0) body["timeout_ms"] = command.timeout.count();
  return body;
}

BackendSandbox to_backend_sandbox(const Json& document) {
  return reading("sandgate", [&] {
    BackendSandbox sandbox;
    sandbox.backend_id = document.at("id").get<std::string>();
    read_tags(field_of(document, "metadata"), sandbox);
    const std::string state = to_state(document);
    // An id must be a single path segment.
    const bool is_id =
        !sandbox.backend_id.empty() && sandbox.backend_id.find('/') == std::string::npos;
    if (!is_id) throw unexpected_answer("sandgate");
    if (state == "stopped" || state == "failed" || state == "stopping")
      sandbox.state = BackendState::gone;
    else if (state == "paused" || state == "pausing")
      sandbox.state = BackendState::paused;
    if (sandbox.state == BackendState::gone) sandbox.ended = to_ruled_end(document);
    if (sandbox.state == BackendState::paused) sandbox.kept = to_kept(document);
    const auto backend = document.value("backend", Json::object());
    if (backend.is_object()) {
      sandbox.isolation =
          isolation_from(text_of(backend, "isolation")).value_or(Isolation::process);
      sandbox.region = text_of(backend, "region");
    }
    sandbox.created_at = from_rfc3339(text_of(document, "created_at"));
    const auto size = document.value("resources", Json());
    if (size.is_object())
      sandbox.resources = Resources{.milli_vcpu = milli_of(size, "vcpu"),
                                    .memory_mib = milli_of(size, "memory_mib") / 1000,
                                    .disk_gib = milli_of(size, "disk_gib") / 1000};
    return sandbox;
  });
}

std::string to_state(const Json& document) {
  std::string state = text_of(document, "state");
  if (!sandbox_state_is_known(state)) throw unexpected_answer("sandgate");
  return state;
}

BackendSandbox to_created(const Json& document) {
  BackendSandbox sandbox = to_backend_sandbox(document);
  if (sandbox.state != BackendState::gone && to_state(document) != "running")
    throw unexpected_answer("sandgate");
  return sandbox;
}

Keeps to_kept(const Json& document) {
  return keeps_from(text_of(document, "kept")).value_or(Keeps::nothing);
}

SandboxPage to_page(const Json& document) {
  return reading("sandgate", [&] {
    SandboxPage page;
    for (const Json& item : list_of("sandgate", document, "items"))
      page.sandboxes.push_back(to_backend_sandbox(item));
    page.next = next_query("cursor", text_of(document, "next_cursor"));
    return page;
  });
}

BackendSnapshot to_backend_snapshot(const Json& document) {
  return reading("sandgate", [&] {
    return BackendSnapshot{.backend_id = document.at("id").get<std::string>(),
                           .kept = to_kept(document),
                           .size_bytes = count_at(document, "size_bytes")};
  });
}

ProcessInfo to_process(const Json& document) {
  return reading("sandgate", [&] {
    ProcessInfo info;
    info.id = document.at("id").get<std::string>();
    info.command = document.at("command").get<std::vector<std::string>>();
    info.pty = document.value("pty", false);
    info.background = document.value("background", false);
    info.started_at = time_at(document, "started_at");
    if (document.at("state") == "exited") {
      info.state = ProcessState::exited;
      info.exit = to_exit(document);
      if (document.at("ended_at").is_string()) info.ended_at = time_at(document, "ended_at");
    }
    return info;
  });
}

FileEntry to_entry(const Json& document) {
  return reading("sandgate", [&] {
    FileEntry entry;
    entry.name = document.at("name").get<std::string>();
    entry.path = document.at("path").get<std::string>();
    entry.type = file_type_from(document.at("type").get<std::string>());
    entry.size = static_cast<uint64_t>(count_at(document, "size"));
    const std::string mode = document.at("mode").get<std::string>();
    entry.mode = static_cast<uint32_t>(std::strtoul(mode.c_str(), nullptr, 8)) & 07777;
    entry.modified_at = time_at(document, "modified_at");
    if (document.contains("target")) entry.target = text_of(document, "target");
    return entry;
  });
}

SandboxMetrics to_metrics(const Json& document) {
  return reading("sandgate", [&] {
    constexpr double kMib = 1 << 20;
    // An invalid member must not invalidate the others.
    const auto or_else = [](int64_t unknown, auto read) {
      try {
        return read();
      } catch (const std::exception&) {
        return unknown;
      }
    };
    const auto scaled = [&](const char* name, double scale, int64_t unknown) {
      return or_else(unknown, [&] { return scaled_at(document, name, scale); });
    };
    const auto count = [&](const char* name, int64_t unknown) {
      return or_else(unknown, [&] { return count_at(document, name); });
    };
    SandboxMetrics metrics;
    metrics.cpu_micros = scaled("cpu_seconds", 1e6, kUnreadCounter);
    metrics.memory_used_bytes = scaled("memory_used_mib", kMib, 0);
    metrics.memory_limit_bytes = scaled("memory_limit_mib", kMib, 0);
    metrics.disk_used_bytes = scaled("disk_used_mib", kMib, 0);
    metrics.egress_bytes = count("egress_bytes", kUnreadCounter);
    metrics.processes = count("processes", 0);
    metrics.sampled_at = time_at(document, "sampled_at");
    return metrics;
  });
}

std::optional<ProcessEvent> to_process_event(const ServerEvent& event) {
  return reading("sandgate", [&]() -> std::optional<ProcessEvent> {
    if (event.name == "stdout" || event.name == "stderr" || event.name == "pty")
      return ProcessEvent(to_chunk(event));
    if (event.name == "exit") return ProcessEvent(to_exit(parse_record(event.data)));
    if (event.name == "error") {
      const Error unknown(ErrorCode::unavailable, "sandgate lost the process");
      throw error_of_problem("sandgate", parse_record(event.data), unknown);
    }
    return std::nullopt;
  });
}

std::optional<FileChange> to_file_change(const ServerEvent& event) {
  return reading("sandgate", [&]() -> std::optional<FileChange> {
    if (event.name == "error") {
      const Error unknown(ErrorCode::unavailable, "sandgate lost the watch");
      throw error_of_problem("sandgate", parse_record(event.data), unknown);
    }
    const auto kind = file_change_kind_from(event.name);
    if (!kind) return std::nullopt;
    const Json data = parse_record(event.data);
    if (!data.is_object()) throw unexpected_answer("sandgate");
    return FileChange{.kind = *kind,
                      .path = text_of(data, "path"),
                      .from = text_of(data, "from"),
                      .type = file_type_from(text_of(data, "type"))};
  });
}

Descriptor to_descriptor(const Json& document) {
  Descriptor descriptor = descriptor_from_json(document);
  descriptor.provider = "sandgate";
  descriptor.tells_ends = true;
  descriptor.repeats_starts = true;
  // Secrets' values never leave this gateway, and host directories are local to a machine.
  descriptor.controls.erase(Control::secret_injection);
  descriptor.controls.erase(Control::host_workspace);
  return descriptor;
}

// What is no problem document was said by something in between, which does not know what is there.
Error read_error(std::string_view provider, const HttpReply& reply) {
  Error plain = error_of_status(provider, reply.status, reply.headers);
  const Json problem = parse_answer(reply.body);
  const bool is_problem = problem.is_object() && error_code_from(text_of(problem, "code"));
  if (is_problem) return error_of_problem(provider, problem, plain);
  constexpr std::array kOfAnybody{ErrorCode::too_large, ErrorCode::rate_limited,
                                  ErrorCode::timeout};
  if (std::ranges::find(kOfAnybody, plain.code) == kOfAnybody.end())
    plain.code = ErrorCode::unavailable;
  return plain;
}

}  // namespace sandgate::wire
