#pragma once
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "local/agent/loop.hpp"
#include "local/agent/ring.hpp"
#include "local/agent/spawn.hpp"

namespace sandgate::agent {

// Somebody interested in a process: called whenever anything changed (more output, room for
// input, its end).
class Follower {
 public:
  virtual ~Follower() = default;
  virtual void on_process() = 0;
  // Offset of the first output byte it still wants; UINT64_MAX when it takes none. A process is
  // not read further while one of its followers is far behind.
  virtual uint64_t position() const = 0;
};

struct ProcessSettings {
  std::string id;
  std::vector<std::string> command;  // as listed, shortened
  bool background = false;
  bool keep = false;  // goes on without a reader: the oldest output falls out of the ring
  bool terminal = false;
  std::chrono::milliseconds timeout{0};  // 0: none
};

struct ProcessResult {
  int exit_code = 0;
  std::string signal;
  bool timed_out = false;
  std::chrono::milliseconds duration{0};
};

nlohmann::json to_json(const ProcessResult& result);

// One running or ended process of the tenant with its output and input.
class Process {
 public:
  Process(Loop& loop, ProcessSettings settings, Spawned child);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  const ProcessSettings& settings() const { return settings_; }
  pid_t pid() const { return child_.pid; }
  const Ring& output() const { return ring_; }
  // Set once the main process ended and its output was read to the end (or had its grace).
  const std::optional<ProcessResult>& result() const { return result_; }
  bool ended() const { return wait_status_.has_value(); }

  void follow(Follower* follower);
  void unfollow(Follower* follower);
  void progressed();  // a follower took output

  // Takes everything, but is to be called only when input_ready(). Throws Error(conflict) when the
  // process no longer reads.
  void write_input(std::string_view bytes);
  void close_input();  // after what was written
  bool input_ready() const { return input_.empty(); }
  bool input_open() const { return !input_closed_ && !input_closing_; }

  void signal(int number) const;  // to the group; throws Error
  void kill();  // the group and what is left of its session
  void resize(uint16_t cols, uint16_t rows);
  void reaped(int wait_status);
  void shrink(size_t ring_bytes) { ring_.trim(ring_bytes); }
  // How much output it may keep from now on, within what a follower needs and a megabyte.
  void set_room(size_t ring_bytes);

  nlohmann::json describe() const;

 private:
  struct Source {
    File* file = nullptr;
    uint8_t channel = 1;
    Loop::Id watch = 0;
    bool open = false;
    size_t owed = 0;  // bytes that were in the pipe when the process ended
  };

  void open_source(Source& source, File& file, uint8_t channel);
  void on_output(Source& source);
  void drain(Source& source);
  void close_source(Source& source);
  void on_input();
  void flush_input();
  void drop_input();
  bool may_read() const;
  void update_watches();
  void finish_if_drained();
  void notify();

  Loop& loop_;
  const ProcessSettings settings_;
  Spawned child_;
  Ring ring_;
  Source sources_[2];
  std::vector<Follower*> followers_;
  std::string input_;  // written, not yet taken by the process
  bool input_closing_ = false, input_closed_ = false;
  Loop::Id input_watch_ = 0, timer_ = 0;
  std::optional<int> wait_status_;
  bool timed_out_ = false, grace_over_ = false;
  std::chrono::steady_clock::time_point started_;
  std::chrono::system_clock::time_point started_at_, ended_at_;
  std::chrono::milliseconds duration_{0};
  std::optional<ProcessResult> result_;
};

}  // namespace sandgate::agent
