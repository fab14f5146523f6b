#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "gateway/core/json_reader.hpp"

// Converts between Sandgate's values and the JSON of Amazon Bedrock AgentCore's Runtime, and builds
// the scripts that run in its sessions. Pure functions.
namespace sandgate::agentcore_runtime {

// The ARN of an agent runtime, "arn:aws:bedrock-agentcore:REGION:ACCOUNT:runtime/ID".
struct Arn {
  std::string text, region, id;
};
std::optional<Arn> to_arn(const std::string& text);

// The caller chooses a session's id, of at least 33 characters: a prefix and our id. The reverse
// returns "" for a session that is not ours.
std::string to_session_id(const std::string& sandbox_id);
std::string to_sandbox_id(const std::string& session_id);

// A script that stores a new sandbox's environment in a file. A session without the file is not a
// sandbox: some request started it.
std::string init_script(const std::map<std::string, std::string>& env);

// A script that prints one of these words as its first line: `gone` if the session is not a
// sandbox, `nowhere` if `directory` does not exist, or `here`, after which it runs `line` in the
// account's home.
inline constexpr const char *kHere = "here", *kGone = "gone", *kNowhere = "nowhere";
std::string in_session(const std::string& line, const std::string& directory = "");

// Makes a line print its outputs as lines of base64, as they come, each followed by an EndMark with
// `word`: the vendor carries only text, and may wait for background processes.
std::string streamed(const std::string& line, const std::string& word);

// The request that runs a script; the vendor ends it after `limit` (0: an hour, the maximum).
// Throws Error(too_large) for a script above the vendor's limit.
Json to_command(const std::string& script, std::chrono::milliseconds limit);

// A part of a command's answer. Throws Error(unavailable) for a malformed one.
struct Chunk {
  std::string out, err;
  std::optional<int> status;  // set when the command has ended
  bool timed_out = false;  // ended by the vendor's limit
};
Chunk to_chunk(const std::string& payload);

}  // namespace sandgate::agentcore_runtime
