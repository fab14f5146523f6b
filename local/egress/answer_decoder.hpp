#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "local/egress/inflater.hpp"
#include "local/egress/response_parser.hpp"

namespace sandgate::egress {

// Turns a host's HTTP/1 answer into the same one without a content coding, in which a secret's
// value can be seen. An answer that is not coded passes unchanged. Pieces are bounded, so that an
// answer may grow without end and costs as much memory as any other.
class AnswerDecoder {
 public:
  struct Request {
    bool is_head = false;  // the answer has no content
    bool knows_chunks = true;
  };
  AnswerDecoder() = default;  // passes on everything as it is
  explicit AnswerDecoder(Request request);

  // What the host sends. next() has returned nothing for what was taken before.
  void take(std::string_view bytes);
  // The next piece of the answer. Nothing: more is needed, or the answer is over or wrong.
  std::string next();
  // After that, if the host has ended its connection in order: the last piece.
  std::string end();
  bool is_over() const { return state_ == State::over; }  // whatever follows belongs to nothing
  // Why the answer cannot be passed on (further); empty while it can.
  std::string_view wrong() const { return wrong_; }

 private:
  enum class State { head, passing, decoding, over };
  std::string read_head();
  void begin_decoding(std::string_view head, ContentCoding coding);
  std::string decode();
  bool take_content();  // returns false when there is none left
  bool content_ended() const;
  std::string framed(std::string_view piece);
  std::string finish();
  std::string fail(std::string_view wrong);

  State state_ = State::passing;
  Request request_;
  std::string input_;
  size_t read_ = 0;  // of input_, by whoever reads it
  std::string head_;  // decoded, until there is content: what is wrong from the start is refused
  ResponseParser frames_;
  std::optional<uint64_t> left_;  // coded bytes still to come, if their number is known
  bool chunked_ = false;
  std::string_view coded_;  // content in input_ that is not decoded yet
  std::unique_ptr<Inflater> inflater_;
  std::string_view wrong_;
};

}  // namespace sandgate::egress
