#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace sandgate::agent {

// A bounded buffer of a process's newest output: bytes of two channels in the order they were read,
// addressed by their offset in the whole output. The oldest bytes are dropped beyond the limit.
class Ring {
 public:
  // More pieces than that are dropped as bytes beyond the limit are. Bytes of one channel that are
  // pushed one after the other share a piece while they are few.
  static constexpr size_t kMaxPieces = 16 * 1024;

  struct Slice {
    uint8_t channel = 0;
    uint64_t offset = 0;  // of the first byte
    std::string_view bytes;  // empty: nothing at or after the offset; valid until push() or trim()
  };

  explicit Ring(size_t limit) : limit_(limit) {}

  void push(uint8_t channel, std::string bytes);
  // Returns bytes of one channel from this offset on, not necessarily all of them. When the byte at
  // the offset was dropped, returns the oldest bytes kept.
  Slice at(uint64_t offset) const;

  size_t pieces_from(uint64_t offset) const;  // that hold bytes at or after the offset

  uint64_t begin() const { return end_ - size_; }
  uint64_t end() const { return end_; }  // count of all bytes ever pushed
  size_t size() const { return size_; }
  size_t limit() const { return limit_; }
  void set_limit(size_t limit) { limit_ = limit; }  // takes effect at the next push()
  void trim(size_t limit);  // drops all but the newest `limit` bytes

 private:
  struct Piece {
    uint8_t channel;
    uint64_t offset;
    std::string bytes;
  };
  using Pieces = std::deque<Piece>;

  Pieces::const_iterator piece_at(uint64_t offset) const;  // of a byte that is kept

  size_t limit_;
  size_t size_ = 0;
  uint64_t end_ = 0;
  Pieces pieces_;
};

}  // namespace sandgate::agent
