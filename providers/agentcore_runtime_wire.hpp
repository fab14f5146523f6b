#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "gateway/core/json_reader.hpp"

// Between our values and the words of Amazon Bedrock AgentCore's Runtime, and the scripts that run
// in its sessions. Pure.
namespace sandgate::agentcore_runtime {

// The name of an agent runtime, "arn:aws:bedrock-agentcore:REGION:ACCOUNT:runtime/ID".
struct Arn {
  std::string text, region, id;
};
std::optional<Arn> to_arn(const std::string& text);

// The caller chooses a session's id, of 33 letters at least: ours behind a word. And back, empty
// for what is none of ours.
std::string to_session_id(const std::string& sandbox_id);
std::string to_sandbox_id(const std::string& session_id);

// Where a session of ours keeps its environment. A session without it was started by a question.
std::string birth_script(const std::map<std::string, std::string>& env);

// A script for sessions of ours: prints one of these words as its first line, and after `here`
// runs the line in the account's home. A directory that is not there is told, not gone to.
inline constexpr const char *kHere = "here", *kGone = "gone", *kNowhere = "nowhere";
std::string in_session(const std::string& line, const std::string& directory = "");

// Makes a line print its outputs as lines of base64, as they come, and behind each the mark of its
// end with the word (EndMark): the vendor carries text, and may wait for what outlives a command.
std::string streamed(const std::string& line, const std::string& word);

// The body that runs a script, which the vendor ends after `limit`; 0 is an hour, its longest.
// Throws Error(too_large) for a script that it does not take.
Json to_command(const std::string& script, std::chrono::milliseconds limit);

// A part of what a command answers. Throws Error(unavailable) for what is none.
struct Chunk {
  std::string out, err;
  std::optional<int> status;  // it has ended
  bool timed_out = false;  // by the vendor
};
Chunk to_chunk(const std::string& payload);

}  // namespace sandgate::agentcore_runtime
