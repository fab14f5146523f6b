#include "providers/daytona/daytona_wire.hpp"

#include <algorithm>

#include "gateway/core/crypto.hpp"
#include "gateway/core/field_text.hpp"

namespace sandgate::daytona {
namespace {

constexpr std::string_view kImage = "image:";
constexpr size_t kMarker = 3;
constexpr int64_t kMilliPerCore = 1000, kMibPerGib = 1024;
// Words of the message of a 403 that is about the key or the account, in lower case.
constexpr std::string_view kRefusesAccount[] = {"forbidden resource", "suspended", "api key",
                                                "token"};

}  // namespace

Resources granted(const Resources& asked) {
  Resources size = asked;
  size.milli_vcpu = std::max<int64_t>(1, in_units(asked.milli_vcpu, kMilliPerCore)) * kMilliPerCore;
  size.memory_mib = std::max<int64_t>(1, in_units(asked.memory_mib, kMibPerGib)) * kMibPerGib;
  size.disk_gib = std::max<int64_t>(1, asked.disk_gib);
  return size;
}

Json to_create(const CreateSpec& spec, const CreateRules& rules) {
  if (!spec.network.allow.empty())
    throw Error(ErrorCode::unsupported, "daytona has no rules for hosts and ports");
  Json labels = spec.metadata;
  put_tags(labels, spec.sandbox_id, spec.installation);
  Json body{{"name", spec.sandbox_id},
            {"labels", std::move(labels)},
            {"env", spec.env},
            {"networkBlockAll", spec.network.fallback == NetworkDefault::deny},
            {"autoStopInterval", 0},  // the vendor's idle check would stop a busy sandbox
            {"ttlMinutes", std::max<int64_t>(1, in_units(spec.ttl.count(), 60))}};
  if (!rules.target.empty()) body["target"] = rules.target;
  const std::string& image = !spec.snapshot.empty() ? spec.snapshot
                             : spec.image.empty()   ? rules.snapshot
                                                    : spec.image;
  if (!image.starts_with(kImage)) {
    if (!image.empty()) body["snapshot"] = image;
    return body;
  }
  body["buildInfo"] = {{"dockerfileContent", "FROM " + image.substr(kImage.size()) + "\n"}};
  const Resources size = granted(spec.resources);
  body["cpu"] = size.milli_vcpu / kMilliPerCore;
  body["memory"] = size.memory_mib / kMibPerGib;
  body["disk"] = size.disk_gib;
  return body;
}

Box to_box(const Json& document) {
  return reading("daytona", [&] {
    Box box;
    box.sandbox.backend_id = document.at("id").get<std::string>();
    read_tags(field_of(document, "labels"), box.sandbox);
    const std::string kind = text_of(document, "sandboxClass");
    box.sandbox.isolation =
        kind.ends_with("vm") || kind == "windows" ? Isolation::microvm : Isolation::container;
    box.sandbox.region = text_of(document, "target");
    const std::string state = text_of(document, "state");
    box.running = state == "started";
    box.failed = state == "error" || state == "build_failed";
    if (state == "destroyed" || state == "destroying") box.sandbox.state = BackendState::gone;
    if (state == "stopped" || state == "archived" || state == "paused") {
      box.sandbox.state = BackendState::paused;
      box.sandbox.kept = state == "paused" ? Keeps::memory : Keeps::disk;
    }
    box.toolbox_url = text_of(document, "toolboxProxyUrl");
    while (box.toolbox_url.ends_with('/')) box.toolbox_url.pop_back();
    box.sandbox.created_at = time_of(document, "createdAt");
    if (document.contains("cpu"))
      box.sandbox.resources = Resources{.milli_vcpu = milli_of(document, "cpu"),
                                        .memory_mib = milli_of(document, "memory") * 1024 / 1000,
                                        .disk_gib = in_units(milli_of(document, "disk"), 1000)};
    return box;
  });
}

SandboxPage to_page(const Json& document) {
  SandboxPage page;
  // Older versions answer with the array itself.
  const Json items = document.is_object() ? field_of(document, "items") : document;
  if (!items.is_array()) throw Error(ErrorCode::unavailable, "daytona sent no list");
  for (const Json& item : items) {
    Box box = to_box(item);
    (box.failed ? page.remains : page.sandboxes).push_back(std::move(box.sandbox));
  }
  page.next = next_query("cursor", text_of(document, "nextCursor"));
  return page;
}

Error read_error(std::string_view provider, const HttpReply& reply) {
  Error error = error_of_status(provider, reply.status, reply.headers);
  if (reply.status != 403) return error;
  const Json document = parse_answer(reply.body);
  const std::string message = ascii_lower(text_of(document, "message"));
  const auto says = [&message](std::string_view words) {
    return message.find(words) != std::string::npos;
  };
  const bool by_file =
      text_of(document, "code") == "FILE_ACCESS_DENIED" || says("permission denied");
  if (!by_file && (message.empty() || std::ranges::any_of(kRefusesAccount, says))) return error;
  error = by_file ? Error(ErrorCode::invalid, "the sandbox denies access to the file")
                  : Error(ErrorCode::no_capacity, "the daytona account's limits do not allow it");
  error.provider = provider;
  return error;
}

std::string execute_command(const std::string& line) {
  return "sh -c \"echo " + base64_encode(line) + " | base64 -d | sh\"";
}

void LogSplitter::put(std::string_view bytes) {
  if (!bytes.empty()) pieces_.push_back({channel_, std::string(bytes)});
}

void LogSplitter::add(std::string_view bytes) {
  held_.append(bytes);
  size_t from = 0, at = 0;
  while (at < held_.size()) {
    const char mark = held_[at];
    if (mark != 1 && mark != 2) {
      ++at;
      continue;
    }
    size_t run = 1;
    while (run < kMarker && at + run < held_.size() && held_[at + run] == mark) ++run;
    if (run < kMarker && at + run == held_.size()) break;  // the marker may continue
    if (run < kMarker) {
      at += run;
      continue;
    }
    put(std::string_view(held_).substr(from, at - from));
    channel_ = mark == 1 ? Channel::stdout_ : Channel::stderr_;
    from = at = at + kMarker;
  }
  put(std::string_view(held_).substr(from, at - from));
  held_.erase(0, at);
}

void LogSplitter::end() {
  put(held_);
  held_.clear();
}

std::optional<LogSplitter::Piece> LogSplitter::next() {
  if (pieces_.empty()) return std::nullopt;
  Piece piece = std::move(pieces_.front());
  pieces_.pop_front();
  return piece;
}

}  // namespace sandgate::daytona
