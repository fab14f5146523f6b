#pragma once
#include <memory>
#include <string>

#include "gateway/http/body_room.hpp"
#include "gateway/http/response.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::api {

// {exit_code,signal,timed_out,duration_ms}; signal is null if there was none.
Json to_json(const ProcessExit& exit);
Json to_json(const ProcessInfo& process);

// The share of BodyRoom that collected output takes until the answer is sent; null: not counted.
using OutputSeat = std::shared_ptr<http::BodyRoom::Seat>;

// Collects the output of a process for one JSON answer. Each of stdout and stderr keeps at most its
// first `limit` bytes, or fewer if `seat` cannot grow. The rest is dropped and the answer says
// `truncated`.
class CollectedOutput {
 public:
  explicit CollectedOutput(size_t limit, OutputSeat seat = nullptr)
      : limit_(limit), seat_(std::move(seat)) {}
  void add(const OutputChunk& chunk);
  // Output that is valid UTF-8 is a text member, other output a base64 member. Large output is
  // streamed in pieces, because its JSON may be six times as large.
  http::Response answer(const std::string& process_id, const ProcessExit& exit) &&;

 private:
  Task<void> write(std::string head, http::BodySink& sink) const;

  size_t limit_;
  OutputSeat seat_;
  std::string out_, err_;
  bool truncated_ = false, full_ = false;
};

}  // namespace sandgate::api
