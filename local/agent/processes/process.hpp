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
#include "local/agent/processes/ring.hpp"
#include "local/agent/processes/spawn.hpp"

namespace sandgate::agent {

// An observer of a process, called after every change: more output, space for input, or the end of
// the process.
class ProcessObserver {
 public:
  virtual ~ProcessObserver() = default;
  virtual void on_process() = 0;
  // Offset of the first output byte the follower has not taken yet; UINT64_MAX when it takes none.
  // Reading of the process's output pauses while any follower is far behind.
  virtual uint64_t position() const = 0;
};

struct ProcessSettings {
  std::string id;
  std::vector<std::string> command;  // as shown in lists, truncated
  bool background = false;
  bool keep = false;  // keeps running when its client disconnects
  bool terminal = false;
  std::chrono::milliseconds timeout{0};  // of the loop's time; 0: none
};

struct ProcessResult {
  int exit_code = 0;
  std::string signal;
  bool timed_out = false;
  std::chrono::milliseconds duration{0};  // of the loop's time
};

nlohmann::json to_json(const ProcessResult& result);

// A tenant's process, running or ended, with its buffered output and pending input.
class Process {
 public:
  Process(Loop& loop, ProcessSettings settings, Spawned child);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  const ProcessSettings& settings() const { return settings_; }
  pid_t pid() const { return child_.pid; }
  const Ring& output() const { return ring_; }
  // Set once the main process has ended and its output was read to the end, or 200 ms after the end
  // when other processes still hold the output open. If its time limit ended it, its whole group
  // has gone, too, or has not within two seconds.
  const std::optional<ProcessResult>& result() const { return result_; }
  bool ended() const { return wait_status_.has_value(); }

  void add_observer(ProcessObserver* observer);  // not owned; stays until remove_observer()
  void remove_observer(ProcessObserver* observer);
  void progressed();  // to be called when a follower's position() has advanced

  // Accepts all bytes and buffers what the process does not read yet; call it only while
  // input_ready(). Returns false when the process no longer reads its input: some are lost then.
  bool write_input(std::string_view bytes);
  // Once the bytes written so far are consumed. A terminal's end is typed, and again for whoever
  // reads it in another way afterwards, until more is written.
  void close_input();
  bool input_ready() const { return input_.empty(); }
  bool input_open() const { return !input_closed_ && !input_closing_; }

  void signal(int number) const;  // to its process group; throws Error
  void kill();  // SIGKILL to its process group and the rest of its session
  void resize(uint16_t cols, uint16_t rows);  // throws Error(conflict) without a terminal
  void reaped(int wait_status);
  // Drops all but the newest output, and what followers have not taken yet.
  void shrink(size_t ring_bytes);
  // Sets the limit of buffered output, clamped to 128 KiB..1 MiB. While there are followers, the
  // buffer shrinks with the next output only.
  void set_buffer_limit(size_t ring_bytes);

  nlohmann::json describe() const;

 private:
  struct Source {
    Fd* file = nullptr;
    uint8_t channel = 1;
    Loop::Id watch = 0;
    bool open = false;
    size_t owed = 0;  // bytes in the pipe when the process ended that are still unread
  };

  void open_source(Source& source, Fd& file, uint8_t channel);
  void on_output(Source& source);
  void drain(Source& source);
  void close_source(Source& source);
  void on_input();
  void flush_input();
  void drop_input();
  void type_end(bool line_is_begun);
  void repeat_end();
  bool may_read() const;
  void update_watches();
  void finish_if_drained();
  bool is_group_dying() const;
  void notify();

  Loop& loop_;
  const ProcessSettings settings_;
  Spawned child_;
  Ring ring_;
  Source sources_[2];
  std::vector<ProcessObserver*> observers_;
  std::string input_;  // written by the client, not yet consumed by the process
  bool input_closing_ = false, input_closed_ = false;
  bool line_is_begun_ = false;  // the last byte written did not end a line
  std::optional<bool> end_is_for_lines_;  // how a terminal was read when its end was typed
  Loop::Id input_watch_ = 0, timer_ = 0;
  std::optional<int> wait_status_;
  bool timed_out_ = false, grace_over_ = false;
  Loop::Instant started_;
  std::chrono::system_clock::time_point started_at_, ended_at_;
  std::chrono::milliseconds duration_{0};
  std::optional<ProcessResult> result_;
};

}  // namespace sandgate::agent
