#include "local/agent/processes/ring.hpp"

#include <algorithm>

namespace sandgate::agent {
namespace {

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

Ring::Pieces::const_iterator Ring::piece_at(uint64_t offset) const {
  const auto next = std::upper_bound(pieces_.begin(), pieces_.end(), offset,
                                     [](uint64_t at, const Piece& p) { return at < p.offset; });
  return std::prev(next);
}

size_t Ring::pieces_from(uint64_t offset) const {
  if (offset >= end_ || size_ == 0) return 0;
  return static_cast<size_t>(pieces_.end() - piece_at(std::max(offset, begin())));
}

Ring::Slice Ring::at(uint64_t offset) const {
  offset = std::max(offset, begin());
  if (offset >= end_) return {0, offset, {}};
  const auto piece = piece_at(offset);
  const std::string_view bytes = piece->bytes;
  return {piece->channel, offset, bytes.substr(offset - piece->offset)};
}

}  // namespace sandgate::agent
