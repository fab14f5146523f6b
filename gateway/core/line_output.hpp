#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/types.h>

namespace sandgate {

// Writes lines to a descriptor whose reader may stop reading, such as the pipe of a collector of
// logs, and never waits long for it. Lines that find no room are left out, which a line of its own
// says as soon as there is room; one that was begun is finished first. Not thread-safe.
class LineOutput {
 public:
  // The sum of all waits within a second.
  static constexpr std::chrono::milliseconds kPatience{100};

  // `note` makes the line that says how many were left out. Lines end with a line feed.
  using Note = std::function<std::string(uint64_t left_out)>;
  LineOutput(int descriptor, Note note) : descriptor_(descriptor), note_(std::move(note)) {}

  void write(std::string_view line);

 private:
  using Instant = std::chrono::steady_clock::time_point;

  // As write() does, but EAGAIN instead of waiting.
  ssize_t try_write(std::string_view text) const;
  ssize_t write_to_pipe(std::string_view text) const;
  bool has_room(std::chrono::milliseconds wait) const;
  bool wait_for_room();
  // False: nothing of it was written.
  bool begin(std::string_view line);
  // Returns how much was written: less only when there is no room, or the output is broken.
  size_t write_what_fits(std::string_view text);

  const int descriptor_;
  const Note note_;
  std::string rest_;  // of a line that was begun
  uint64_t left_out_ = 0;
  Instant second_{};  // the beginning of the present one
  Instant::duration waited_{};  // in it
};

}  // namespace sandgate
