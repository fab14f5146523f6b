#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "local/agent/tar_format.hpp"

namespace sandgate::agent {

struct TarContent {
  std::string_view bytes;  // of the entry before; valid until the next push()
};
struct TarEntryEnd {};  // after every entry, also one without content

using TarEvent = std::variant<TarEntry, TarContent, TarEntryEnd>;

// Reads an archive as it arrives: ustar, pax and GNU long names; memory bounded by the names.
// Every byte is hostile. Throws Error(invalid) for what is no such archive.
class TarReader {
 public:
  // Gives the next bytes; only after next() was empty.
  void push(std::string_view bytes) { input_ = bytes; }
  std::optional<TarEvent> next();
  void finish() const;  // the bytes ended: throws when that is in the middle of a member

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
  std::string block_;  // a header as far as it arrived
  std::string metadata_;
  char metadata_flag_ = 0;
  uint64_t left_ = 0;  // bytes of content or metadata still to come
  size_t padding_ = 0;
  bool in_entry_ = false, zero_block_ = false;
  std::optional<std::string> next_name_, next_target_;
  std::optional<uint64_t> next_size_;
};

}  // namespace sandgate::agent
