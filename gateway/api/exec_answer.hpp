#pragma once
#include <memory>
#include <string>

#include "gateway/http/body_memory_quota.hpp"
#include "gateway/http/response.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::api {

// {exit_code,signal,timed_out,duration_ms}; signal is null if there was none.
Json to_json(const ProcessExit& exit);
Json to_json(const ProcessInfo& process);

// The share of BodyMemoryQuota that collected output takes until the answer is sent; null: not
// counted.
using OutputReservation = std::shared_ptr<http::BodyMemoryQuota::Reservation>;

// Collects the output of a process for one JSON answer. Each of stdout and stderr keeps at most its
// first `limit` bytes, or fewer if `reservation` cannot grow. The rest is dropped and the answer
// says `truncated`.
class CollectedOutput {
 public:
  explicit CollectedOutput(size_t limit, OutputReservation reservation = nullptr)
      : limit_(limit), reservation_(std::move(reservation)) {}
  void add(const OutputChunk& chunk);
  // Output that is valid UTF-8 is a text member, other output a base64 member. Large output is
  // streamed in pieces, because its JSON may be six times as large.
  http::Response answer(const std::string& process_id, const ProcessExit& exit) &&;

 private:
  Task<void> write(std::string head, http::BodySink& sink) const;

  size_t limit_;
  OutputReservation reservation_;
  std::string out_, err_;
  bool truncated_ = false, full_ = false;
};

}  // namespace sandgate::api
