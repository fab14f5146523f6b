#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sandgate::egress {

// Follows an HTTP/1 answer and tells what it says from the framing of its chunks, which may stand
// in the middle of it. It judges nothing: from where it does not understand, or where framing does
// not end, all is said.
class AnswerFrames {
 public:
  struct Run {
    size_t bytes = 0;
    bool is_framing = false;
  };
  // What `bytes`, not empty, begin with; the next call begins behind it.
  Run next(std::string_view bytes);

 private:
  enum class State { head, size, extension, data, data_end, rest };
  Run read(std::string_view bytes);
  Run read_head(std::string_view bytes);
  Run read_size(std::string_view bytes);
  State after_head() const;

  State state_ = State::head;
  std::string head_;
  uint64_t left_ = 0;  // of the chunk
  int digits_ = 0;
  size_t framing_ = 0;  // bytes since something was said
};

}  // namespace sandgate::egress
