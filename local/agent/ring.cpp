#include "local/agent/ring.hpp"

#include <algorithm>

namespace sandgate::agent {
namespace {

// Bound the overhead of many tiny pieces on alternating channels.
constexpr size_t kMaxPieces = 16 * 1024;
constexpr size_t kJoinedPiece = 16 * 1024;

}  // namespace

void Ring::push(uint8_t channel, std::string bytes) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  end_ += bytes.size();
  if (!pieces_.empty() && pieces_.back().channel == channel &&
      pieces_.back().bytes.size() + bytes.size() <= kJoinedPiece)
    pieces_.back().bytes += bytes;
  else
    pieces_.push_back({channel, end_ - bytes.size(), std::move(bytes)});
  trim(limit_);
}

void Ring::trim(size_t limit) {
  while (!pieces_.empty() && (size_ > limit || pieces_.size() > kMaxPieces)) {
    Piece& oldest = pieces_.front();
    const size_t excess = size_ > limit ? size_ - limit : oldest.bytes.size();
    if (excess >= oldest.bytes.size()) {
      size_ -= oldest.bytes.size();
      pieces_.pop_front();
    } else {
      oldest.bytes.erase(0, excess);
      oldest.offset += excess;
      size_ -= excess;
    }
  }
}

Ring::Slice Ring::at(uint64_t offset) const {
  offset = std::max(offset, begin());
  if (offset >= end_) return {0, offset, {}};
  auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                [](uint64_t at, const Piece& p) { return at < p.offset; });
  --piece;
  const std::string_view bytes = piece->bytes;
  return {piece->channel, offset, bytes.substr(offset - piece->offset)};
}

}  // namespace sandgate::agent
