#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct z_stream_s;

namespace sandgate::egress {

enum class ContentCoding { none, gzip, deflate, unknown };

// Undoes gzip (RFC 1952, any number of members) or deflate (RFC 1950, or without its frame, as some
// servers send it), a bounded piece at a time. What follows the coded content is no part of it.
class Inflater {
 public:
  explicit Inflater(ContentCoding coding);
  ~Inflater();
  Inflater(const Inflater&) = delete;

  // Takes from the front of `coded` until there is a piece of content, which is returned; then
  // `coded` may be empty with more still to come. An empty piece: more is needed. Nothing: this is
  // not what the coding says.
  std::optional<std::string> next(std::string_view& coded);
  // Whether the content may end here. Nothing at all is whole, too: servers name a coding also
  // where there is no content.
  bool is_whole() const { return !stream_ || ended_; }

 private:
  bool step(std::string_view& coded, std::string& out);
  void begin(char first);

  struct End {
    void operator()(z_stream_s* stream) const;
  };
  ContentCoding coding_;
  std::unique_ptr<z_stream_s, End> stream_;  // from the first byte on
  bool filled_ = false;  // the last piece was full, so there may be more without further input
  bool ended_ = false;
  std::array<char, 16 * 1024> piece_;
};

}  // namespace sandgate::egress
