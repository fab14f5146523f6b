#pragma once
#include <cstdint>
#include <memory>

#include "local/agent/connection.hpp"
#include "local/agent/processes/process.hpp"

namespace sandgate::agent {

// The operation that only writes a process's input. It replies once the process's pipe has accepted
// all bytes, even if the process has ended since.
class InputStream : public Operation, public ProcessObserver {
 public:
  // Throws Error(conflict) when the process no longer reads.
  InputStream(Connection& connection, std::shared_ptr<Process> process);
  ~InputStream() override;

  bool wants_frames() const override { return !ended_ && process_->input_ready(); }
  void on_frame(const Frame& frame) override;
  void on_writable() override {}
  void on_closed() override;
  void on_process() override;
  uint64_t position() const override { return UINT64_MAX; }

 private:
  bool is_read() const { return !process_->ended() && process_->input_open(); }
  void refuse();
  void finish_if_taken();

  Connection& connection_;
  const std::shared_ptr<Process> process_;
  bool taken_ = true;  // all bytes so far
  bool ended_ = false, done_ = false;
};

}  // namespace sandgate::agent
