#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace sandgate::egress {

// Incremental parser that splits an HTTP/1 response into content and the framing of its chunks.
// It does not validate: from malformed or endless framing on, everything counts as content.
class AnswerFrames {
 public:
  struct Run {
    size_t bytes = 0;
    bool is_framing = false;
  };
  // Classifies a prefix of `bytes`, which are not empty. The next call continues after that prefix.
  Run next(std::string_view bytes);

 private:
  enum class State { head, size, extension, data, data_end, rest };
  Run read(std::string_view bytes);
  Run read_head(std::string_view bytes);
  Run read_size(std::string_view bytes);
  State after_head() const;

  State state_ = State::head;
  std::string head_;
  uint64_t left_ = 0;  // bytes of the chunk still to come
  int digits_ = 0;
  size_t framing_ = 0;  // bytes of framing since the last content
};

}  // namespace sandgate::egress
