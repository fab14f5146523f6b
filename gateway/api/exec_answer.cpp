#include "gateway/api/exec_answer.hpp"

#include <algorithm>

#include "gateway/core/crypto.hpp"
#include "gateway/core/json_text.hpp"
#include "gateway/core/time_json.hpp"
#include "gateway/core/utf8.hpp"

namespace sandgate::api {
namespace {

constexpr size_t kAtOnce = 256 << 10;
// A multiple of three, so that the pieces' base64 can be joined.
constexpr size_t kOutputPiece = 48 << 10;

// One output as a JSON member: text or base64.
struct Member {
  std::string name;
  std::string_view bytes;
  bool is_text;
};

Member member_of(std::string name, std::string_view bytes, bool truncated) {
  // The limit may cut a character in two, which alone must not turn text into base64.
  const std::string_view text = truncated ? without_cut_character(bytes) : bytes;
  if (is_utf8(text)) return {std::move(name), text, true};
  return {name + "_base64", bytes, false};
}

std::string encoded(const Member& member) {
  return member.is_text ? std::string(member.bytes) : base64_encode(member.bytes);
}

Task<void> write_member(Member member, http::BodySink& sink) {
  std::string piece = ",\"" + member.name + "\":\"";
  co_await sink.write(piece);
  for (std::string_view rest = member.bytes; !rest.empty();) {
    Member part = member;
    part.bytes = rest.substr(0, kOutputPiece);
    if (part.is_text && part.bytes.size() < rest.size())
      part.bytes = without_cut_character(part.bytes);
    rest.remove_prefix(part.bytes.size());
    const std::string quoted = Json(encoded(part)).dump();
    piece.assign(quoted, 1, quoted.size() - 2);
    co_await sink.write(piece);
  }
  piece = "\"";
  co_await sink.write(piece);
}

}  // namespace

Json to_json(const ProcessExit& exit) {
  return {{"exit_code", exit.exit_code},
          {"signal", exit.signal.empty() ? Json() : Json(exit.signal)},
          {"timed_out", exit.timed_out},
          {"duration_ms", exit.duration.count()}};
}

Json to_json(const ProcessInfo& process) {
  Json command = Json::array();
  for (const auto& argument : process.command) command.push_back(to_utf8(argument));
  const auto& exit = process.exit;
  return {{"id", process.id},
          {"command", std::move(command)},
          {"pty", process.pty},
          {"background", process.background},
          {"state", process.state == ProcessState::running ? "running" : "exited"},
          {"exit_code", exit ? Json(exit->exit_code) : Json()},
          {"signal", exit && !exit->signal.empty() ? Json(exit->signal) : Json()},
          {"started_at", to_rfc3339(process.started_at)},
          {"ended_at", time_json(process.ended_at)}};
}

void CollectedOutput::add(const OutputChunk& chunk) {
  std::string& kept = chunk.channel == Channel::stderr_ ? err_ : out_;
  const size_t wanted = std::min(chunk.bytes.size(), limit_ - kept.size());
  full_ = full_ || (reservation_ && !reservation_->try_grow_to(out_.size() + err_.size() + wanted));
  const size_t room = full_ ? 0 : wanted;
  kept.append(chunk.bytes, 0, room);
  truncated_ = truncated_ || chunk.bytes.size() > room;
}

Task<void> CollectedOutput::write(std::string head, http::BodySink& sink) const {
  head.pop_back();  // the closing brace
  co_await sink.write(head);
  auto out = write_member(member_of("stdout", out_, truncated_), sink);
  co_await std::move(out);
  auto err = write_member(member_of("stderr", err_, truncated_), sink);
  co_await std::move(err);
  head = "}";
  co_await sink.write(head);
}

http::Response CollectedOutput::answer(const std::string& process_id, const ProcessExit& exit) && {
  Json answer = to_json(exit);
  answer["process_id"] = process_id;
  answer["truncated"] = truncated_;
  if (out_.size() + err_.size() > kAtOnce) {
    const auto output = std::make_shared<const CollectedOutput>(std::move(*this));
    const auto produce = [output, head = json_text(answer)](http::BodySink& sink) {
      return output->write(head, sink);
    };
    http::Response response;
    response.body = http::StreamBody{.produce = produce, .is_whole = true};
    return response;
  }
  for (const Member& member :
       {member_of("stdout", out_, truncated_), member_of("stderr", err_, truncated_)})
    answer[member.name] = encoded(member);
  return http::Response::json(200, answer);
}

}  // namespace sandgate::api
