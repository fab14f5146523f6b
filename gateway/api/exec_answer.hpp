#pragma once
#include <memory>
#include <string>

#include "gateway/http/body_room.hpp"
#include "gateway/http/response.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::api {

// {exit_code,signal,timed_out,duration_ms}; signal is null when there was none.
Json to_json(const ProcessExit& exit);
Json to_json(const ProcessInfo& process);

// The memory that gathered output takes, until the answer is sent. Null: not counted.
using OutputSeat = std::shared_ptr<http::BodyRoom::Seat>;

// Gathers what a process writes for one JSON answer. Each stream keeps at most `limit` bytes from
// its beginning, and less where `seat` gets no room; the rest is dropped and the answer says
// `truncated`.
class CollectedOutput {
 public:
  explicit CollectedOutput(size_t limit, OutputSeat seat = nullptr)
      : limit_(limit), seat_(std::move(seat)) {}
  void add(const OutputChunk& chunk);
  // Text members when the bytes are valid UTF-8, else their base64 twins instead. Much output is
  // written in pieces: as JSON it may take six times as much.
  http::Response answer(const std::string& process_id, const ProcessExit& exit) &&;

 private:
  Task<void> write(std::string head, http::BodySink& sink) const;

  size_t limit_;
  OutputSeat seat_;
  std::string out_, err_;
  bool truncated_ = false, full_ = false;
};

}  // namespace sandgate::api
