#pragma once
#include <string>

#include "gateway/core/json_reader.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::api {

// {exit_code,signal,timed_out,duration_ms}; signal is null when there was none.
Json to_json(const ProcessExit& exit);
Json to_json(const ProcessInfo& process);

// Gathers what a process writes for one JSON answer. Each stream keeps at most `limit` bytes from
// its beginning; the rest is dropped and the answer says `truncated`.
class CollectedOutput {
 public:
  explicit CollectedOutput(size_t limit) : limit_(limit) {}
  void add(const OutputChunk& chunk);
  // Text members when the bytes are valid UTF-8, else their base64 twins instead.
  Json answer(const std::string& process_id, const ProcessExit& exit) const;

 private:
  size_t limit_;
  std::string out_, err_;
  bool truncated_ = false;
};

}  // namespace sandgate::api
