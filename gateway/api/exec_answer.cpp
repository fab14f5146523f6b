#include "gateway/api/exec_answer.hpp"

#include "gateway/core/crypto.hpp"
#include "gateway/core/utf8.hpp"

namespace sandgate::api {
namespace {

void put(Json& answer, const std::string& name, std::string_view bytes, bool truncated) {
  // A limit can cut a character in two: that alone must not turn text into base64.
  const std::string_view text = truncated ? without_cut_character(bytes) : bytes;
  if (is_utf8(text)) {
    answer[name] = text;
    return;
  }
  answer[name + "_base64"] = base64_encode(bytes);
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
          {"ended_at", process.ended_at ? Json(to_rfc3339(*process.ended_at)) : Json()}};
}

void CollectedOutput::add(const OutputChunk& chunk) {
  std::string& kept = chunk.channel == Channel::stderr_ ? err_ : out_;
  const size_t room = limit_ - kept.size();
  kept.append(chunk.bytes, 0, room);
  truncated_ = truncated_ || chunk.bytes.size() > room;
}

Json CollectedOutput::answer(const std::string& process_id, const ProcessExit& exit) const {
  Json answer = to_json(exit);
  answer["process_id"] = process_id;
  answer["truncated"] = truncated_;
  put(answer, "stdout", out_, truncated_);
  put(answer, "stderr", err_, truncated_);
  return answer;
}

}  // namespace sandgate::api
