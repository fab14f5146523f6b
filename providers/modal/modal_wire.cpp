#include "providers/modal/modal_wire.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "gateway/core/crypto.hpp"
#include "providers/shell/line_limits.hpp"
#include "providers/shell/shell_command.hpp"
#include "providers/transport/protobuf_wire.hpp"
#include "providers/vendor_json.hpp"

namespace sandgate::modal {
namespace {

using protobuf::Message;
using protobuf::Writer;

// An arbitrary namespace for the UUIDs by which the vendor recognises repeats.
constexpr std::string_view kIdNamespace = "0b3f7b7e-4d0f-5a3b-9a53-8f3c2e8a6d11";
constexpr uint64_t kCreateIfMissing = 1, kOpen = 1, kBlocked = 2, kPipe = 1, kShellTerminal = 2;
constexpr uint64_t kSuccess = 1;
constexpr int64_t kLongestSeconds = 86'400;
constexpr float kJoinSeconds = 55;
// The life of a snapshot that is only needed for a fork.
constexpr int64_t kForkSeconds = 86'400;

Writer tag_of(std::string_view name, std::string_view value) {
  return Writer().text(1, name).text(2, value);
}

// Variables are sent as a secret, as the vendor's clients do.
Writer environment_of(const std::map<std::string, std::string>& env) {
  Writer contents;
  for (const auto& [name, value] : env) contents.entry(1, name, value);
  return Writer().message(2, contents);
}

void read_modal_tags(const std::vector<Message>& tags, BackendSandbox& sandbox) {
  for (const Message& tag : tags) {
    if (tag.text(1) == kSandboxTag) sandbox.sandbox_id = tag.text(2);
    if (tag.text(1) == kInstallationTag) sandbox.installation = tag.text(2);
  }
}

std::optional<bool> ended_of(const std::optional<Message>& result) {
  const uint64_t status = result ? result->number(1) : 0;
  if (status == 0) return std::nullopt;
  return status == kSuccess;
}

std::string required(std::string text) {
  if (text.empty()) throw unexpected_answer("modal");
  return text;
}

bool is_word(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7F; });
}

// Reads seconds since 1970, as the bits of a double.
std::optional<Time> moment_of(uint64_t bits) {
  constexpr double kMaxSeconds = 1e10;  // the year 2286
  const double seconds = std::bit_cast<double>(bits);
  if (!(seconds > 0 && seconds < kMaxSeconds)) return std::nullopt;
  return from_micros(static_cast<int64_t>(seconds * 1e6));
}

Writer definition_of(const CreateSpec& spec, const CreateRules& rules, std::string_view image) {
  // The vendor counts physical cores, which are two of our CPUs each. Request and limit are equal.
  const auto cpu = static_cast<uint64_t>(in_units(spec.resources.milli_vcpu, 2));
  const auto memory = static_cast<uint64_t>(spec.resources.memory_mib);
  const bool deny = spec.network.fallback == NetworkDefault::deny;
  const int64_t lives = std::max<int64_t>(spec.ttl.count(), rules.keep_alive_seconds);
  Writer definition;
  definition.text(3, image)
      .message(5, Writer().number(2, memory).number(3, cpu).number(5, memory).number(7, cpu))
      .number(7, static_cast<uint64_t>(std::clamp<int64_t>(lives, 1, kLongestSeconds)));
  if (!rules.region.empty()) definition.message(17, Writer().text(4, rules.region));
  definition.message(22, Writer().number(1, deny ? kBlocked : kOpen))
      .text(28, rules.runtime)
      .text(30, spec.sandbox_id);
  return definition;
}

Writer terminal_of(const PtySize& size) {
  return Writer()
      .number(1, 1)
      .number(2, size.rows)
      .number(3, size.cols)
      .text(4, "xterm-256color")
      .text(5, "truecolor")
      .number(7, kShellTerminal)
      .number(8, 1);
}

}  // namespace

std::string uuid_of(std::string_view our_id) { return uuid_v5(kIdNamespace, our_id); }

std::string snapshot_name(std::string_view snapshot_id) {
  return "sandgate:" + std::string(snapshot_id);
}

std::string to_id(std::string_view id) { return Writer().text(1, id).bytes(); }
std::string from_id(std::string_view message) { return required(Message(message).text(1)); }

// ---- the account

std::optional<int64_t> expiry_of(std::string_view token) {
  const size_t first = token.find('.'), second = token.find('.', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return std::nullopt;
  std::string claims(token.substr(first + 1, second - first - 1));
  std::replace(claims.begin(), claims.end(), '-', '+');
  std::replace(claims.begin(), claims.end(), '_', '/');
  while (claims.size() % 4 != 0) claims += '=';
  const auto text = base64_decode(claims);
  const Json document = parse_answer(text.value_or(""));
  const Json end = field_of(document, "exp");
  if (!end.is_number_integer()) return std::nullopt;
  return end.get<int64_t>();
}

std::string to_app(std::string_view name, std::string_view environment) {
  return Writer().text(1, name).text(2, environment).number(3, kCreateIfMissing).bytes();
}

std::string to_builder(std::string_view environment) { return to_id(environment); }

std::string from_builder(std::string_view message) {
  const auto metadata = Message(message).message(2);
  const auto settings = metadata ? metadata->message(2) : std::nullopt;
  return required(settings ? settings->text(1) : "");
}

// ---- images

std::string to_image(std::string_view app, std::string_view reference, std::string_view builder) {
  // The reference becomes a line of a build file and must not add another line.
  if (!is_word(reference)) throw Error(ErrorCode::no_capacity, "modal has no such image");
  const std::string line = "FROM " + std::string(reference);
  return Writer().message(2, Writer().text(6, line)).text(4, app).text(9, builder).bytes();
}

Build from_image(std::string_view message) {
  const Message reply(message);
  return {required(reply.text(1)), ended_of(reply.message(2))};
}

std::string to_join(std::string_view image, std::string_view last_entry) {
  return Writer().text(1, image).real32(2, kJoinSeconds).text(3, last_entry).bytes();
}

BuildNews from_join(std::string_view message) {
  const Message news(message);
  return {news.text(3), ended_of(news.message(1))};
}

std::string to_publish(std::string_view image, std::string_view name,
                       std::string_view environment) {
  return Writer().text(1, image).text(2, name).text(3, environment).bytes();
}

std::string to_named(std::string_view name, std::string_view environment) {
  return Writer().text(1, name).text(2, environment).bytes();
}

// ---- sandboxes

std::string to_create(const CreateSpec& spec, const CreateRules& rules, std::string_view app,
                      std::string_view image) {
  if (!spec.network.allow.empty())
    throw Error(ErrorCode::unsupported, "modal has no rules for hosts and ports");
  Writer request;
  request.text(1, app).message(2, definition_of(spec, rules, image));
  request.message(4, tag_of(kSandboxTag, spec.sandbox_id));
  if (!spec.installation.empty()) request.message(4, tag_of(kInstallationTag, spec.installation));
  for (const auto& [name, value] : spec.metadata)
    if (name != kSandboxTag && name != kInstallationTag) request.message(4, tag_of(name, value));
  if (!spec.env.empty()) request.message(6, environment_of(spec.env));
  return request.bytes();
}

Created from_create(std::string_view message) {
  const Message reply(message);
  Created created{required(reply.text(1)), std::nullopt};
  const auto access = reply.message(5);
  const std::string task = reply.text(3);
  if (access && !task.empty())
    created.access = Access{task, access->text(2), Secret(access->text(1))};
  return created;
}

std::string to_wait(std::string_view sandbox, float seconds) {
  return Writer().text(1, sandbox).real32(2, seconds).bytes();
}

bool from_wait(std::string_view message) {
  return ended_of(Message(message).message(1)).has_value();
}

std::optional<std::string> from_task(std::string_view message) {
  const Message reply(message);
  std::string task = reply.text(1);
  if (!task.empty()) return task;
  if (!reply.has(2)) throw Error(ErrorCode::unavailable, "the sandbox has not started yet");
  return std::nullopt;
}

Access from_access(std::string_view message, std::string task) {
  const Message reply(message);
  return {std::move(task), required(reply.text(2)), Secret(required(reply.text(1)))};
}

void from_tags(std::string_view message, BackendSandbox& sandbox) {
  read_modal_tags(Message(message).messages(1), sandbox);
}

std::string to_list(std::string_view app, std::string_view tag, uint64_t before) {
  Writer request;
  request.text(1, app).fixed64(2, before);
  if (!tag.empty()) request.message(5, tag_of(kSandboxTag, tag));
  return request.bytes();
}

Page from_list(std::string_view message) {
  Page page;
  for (const Message& info : Message(message).messages(1)) {
    BackendSandbox sandbox;
    sandbox.backend_id = required(info.text(1));
    read_modal_tags(info.messages(6), sandbox);
    page.last = info.fixed64(3);
    sandbox.created_at = moment_of(page.last);
    page.sandboxes.push_back(std::move(sandbox));
  }
  return page;
}

// ---- the router of a sandbox

std::string to_start(std::string_view task, std::string_view exec, const Command& command) {
  Writer request;
  request.text(1, task).text(2, exec);
  // The vendor accepts absolute directories only.
  Command moved = command;
  moved.env.clear();
  const std::string line = "cd 2>/dev/null; " + shell::line_of(moved);
  for (const char* word : {"/bin/sh", "-c", line.c_str()}) request.text(3, word);
  request.number(4, kPipe).number(5, kPipe);
  if (command.pty) request.message(9, terminal_of(*command.pty));
  if (!command.env.empty()) request.message(13, environment_of(command.env));
  return request.bytes();
}

std::string to_line(std::string_view task, std::string_view exec, const std::string& line) {
  const std::string whole = "cd 2>/dev/null; { " + line + "\n} </dev/null";
  Writer request;
  request.text(1, task).text(2, exec);
  for (const char* word : {"/bin/sh", "-c", whole.c_str()}) request.text(3, word);
  return request.number(4, kPipe)
      .number(6, static_cast<uint64_t>(shell::kLineTime.count()))
      .bytes();
}

std::string to_exec(std::string_view task, std::string_view exec) {
  return Writer().text(1, task).text(2, exec).bytes();
}

std::string to_read(std::string_view task, std::string_view exec, Channel channel,
                    uint64_t offset) {
  return Writer()
      .text(1, task)
      .text(2, exec)
      .number(3, offset)
      .number(4, channel == Channel::stderr_ ? 1 : 0)
      .bytes();
}

std::string from_read(std::string_view message) { return std::string(Message(message).bytes(1)); }

int from_exit(std::string_view message) {
  const Message reply(message);
  if (reply.has(2)) return 128 + static_cast<int>(reply.number(2) & 0x7F);
  if (!reply.has(1)) throw unexpected_answer("modal");
  return static_cast<int>(reply.number(1) & 0xFF);
}

std::string to_input(std::string_view task, std::string_view exec, uint64_t offset,
                     std::string_view bytes, bool last) {
  return Writer()
      .text(1, task)
      .text(2, exec)
      .number(3, offset)
      .text(4, bytes)
      .number(5, last)
      .bytes();
}

uint64_t from_written(std::string_view message) { return Message(message).number(1); }

std::string to_snapshot(std::string_view task, std::string_view snapshot_id, bool lasting) {
  const int64_t seconds = lasting ? -1 : kForkSeconds;
  return Writer()
      .text(1, task)
      .text(2, uuid_of(snapshot_id))
      .number(3, static_cast<uint64_t>(seconds))
      .bytes();
}

Error read_status(std::string_view provider, const grpc::Status& status) {
  constexpr float kMaxSeconds = 3600;
  Error error = grpc::error_of(provider, status);
  try {
    for (const Message& detail : Message(status.details).messages(3)) {
      if (!detail.text(1).ends_with("/modal.client.RPCRetryPolicy")) continue;
      const float seconds = Message(detail.bytes(2)).real32(1);
      if (std::isfinite(seconds))
        error.retry_after =
            std::chrono::milliseconds(std::lround(std::clamp(seconds, 0.0F, kMaxSeconds) * 1000));
    }
  } catch (const Error&) {
    // The status stands even if its details are malformed.
  }
  return error;
}

}  // namespace sandgate::modal
