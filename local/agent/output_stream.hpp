#pragma once
#include <memory>

#include "local/agent/connection.hpp"
#include "local/agent/process.hpp"

namespace sandgate::agent {

// A connection that shows a process: its output from an offset, then its exit. What the client
// sends is the process's input; `end` closes that.
class OutputStream : public Operation, public Follower {
 public:
  // `kill_when_closed`: losing the client ends the process.
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
