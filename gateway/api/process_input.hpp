#pragma once
#include <memory>
#include <optional>
#include <string>

#include "gateway/core/auto_reset_event.hpp"
#include "providers/sandbox.hpp"

namespace sandgate::api {

// Whether a failed write means that the backend lost the input. Otherwise the program does not read
// any more (it ended or closed its stdin), which is its own affair.
bool is_lost_input(const Error& failure);

// Write to stdin, or close it, again for up to 30 seconds while the backend answers rate_limited.
// Return the Error of lost input two seconds late, so that the client learns first of the exit of a
// process that has just ended; empty if nothing was lost.
Task<std::optional<Error>> write_input(ProcessStream& stream, std::string bytes);
Task<std::optional<Error>> close_input(ProcessStream& stream);

// Writes all of `bytes` in pieces and closes stdin. Returns as above.
Task<std::optional<Error>> write_and_close_input(ProcessStream& stream, std::string bytes);

// A process whose input is written while its output is read. next() throws the Error of input that
// was lost: an answer must not look as if the program had read everything.
class ProcessWithInput final : public ProcessStream {
 public:
  // Without input, stdin is left alone. The stream must outlive this object.
  ProcessWithInput(ProcessStream& stream, asio::any_io_executor executor,
                   std::optional<std::string> input)
      : stream_(stream), lost_(std::move(executor)), input_(std::move(input)) {}

  bool has_input() const { return input_.has_value(); }
  // Writes the input. Has to run beside the calls of next(), until the last of them returns.
  Task<void> run();

  Task<std::optional<ProcessEvent>> next() override;
  Task<void> write_stdin(std::string bytes) override {
    return stream_.write_stdin(std::move(bytes));
  }
  Task<void> close_stdin() override { return stream_.close_stdin(); }
  std::string process_id() const override { return stream_.process_id(); }

 private:
  ProcessStream& stream_;
  AutoResetEvent lost_;
  std::optional<std::string> input_;  // empty once all of it was written
  std::optional<Error> loss_;
};

}  // namespace sandgate::api
