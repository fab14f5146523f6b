#pragma once
#include <memory>

#include "local/agent/connection.hpp"
#include "local/agent/processes/process.hpp"

namespace sandgate::agent {

// The operation that streams a process: its output from an offset, then its exit. Bytes from the
// client are written to the process's input; an end frame closes the input.
class OutputStream : public Operation, public ProcessObserver {
 public:
  // `kill_when_closed`: the process is killed when the client disconnects.
  OutputStream(Connection& connection, std::shared_ptr<Process> process, uint64_t from,
               bool kill_when_closed);
  ~OutputStream() override;

  bool wants_frames() const override { return process_->input_ready(); }
  void on_frame(const Frame& frame) override;
  void on_writable() override { pump(); }
  void on_closed() override;
  void on_process() override;
  uint64_t position() const override { return position_; }

 private:
  void pump();

  Connection& connection_;
  const std::shared_ptr<Process> process_;
  uint64_t position_;
  const bool kill_when_closed_;
  bool done_ = false;
};

}  // namespace sandgate::agent
