#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "local/agent/files/tar_format.hpp"

namespace sandgate::agent {

struct TarContent {
  std::string_view bytes;  // of the preceding entry; valid until the next push()
};
struct TarEntryEnd {};  // follows every entry, even one without content

using TarEvent = std::variant<TarEntry, TarContent, TarEntryEnd>;

// Incremental parser of tar archives: ustar, pax and GNU long names. Input is untrusted; memory is
// bounded (64 KiB per extended header). Throws Error(invalid) for anything malformed.
class TarReader {
 public:
  // Supplies the next bytes, which must stay valid; call it only when next() has returned empty.
  void push(std::string_view bytes) { input_ = bytes; }
  std::optional<TarEvent> next();  // empty: all input is consumed
  void finish() const;  // call at the end of input; throws when a member is incomplete

 private:
  enum class State { header, metadata, content, padding, done };

  std::optional<TarEvent> take_header();
  std::optional<TarEvent> read_block();
  void begin_metadata(char flag, uint64_t size);
  void take_metadata();
  void apply_pax(std::string_view records);
  std::optional<TarEvent> take_content();
  bool take_padding();

  std::string_view input_;
  State state_ = State::header;
  std::string block_;  // the part of a header received so far
  std::string metadata_;
  char metadata_flag_ = 0;
  uint64_t left_ = 0;  // bytes of content or metadata still to come
  size_t padding_ = 0;
  bool zero_block_ = false;
  std::optional<std::string> next_name_, next_target_;
  std::optional<uint64_t> next_size_;
  std::optional<int64_t> next_mtime_;
};

}  // namespace sandgate::agent
