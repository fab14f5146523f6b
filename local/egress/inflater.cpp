#include "local/egress/inflater.hpp"

#include <zlib.h>

#include <new>

namespace sandgate::egress {
namespace {

constexpr int kGzipFrame = 16;  // added to the bits of the window; negated, there is no frame
constexpr char kGzipBegin = '\x1f';

// The lower half of a zlib frame's first byte says "deflate". A deflated text without the frame
// would have set bits there that every encoder leaves clear.
bool begins_zlib_frame(char first) { return (first & 0x8f) == 0x08; }

}  // namespace

Inflater::Inflater(ContentCoding coding) : coding_(coding) {}

Inflater::~Inflater() = default;

void Inflater::End::operator()(z_stream_s* stream) const {
  inflateEnd(stream);
  delete stream;
}

std::optional<std::string> Inflater::next(std::string_view& coded) {
  std::string out;
  while (out.empty() && (filled_ || !coded.empty())) {
    if (ended_ && (coding_ != ContentCoding::gzip || coded[0] != kGzipBegin)) {
      coding_ = ContentCoding::none;  // so that nothing behind it begins another member
      coded = {};
    } else if (!step(coded, out)) {
      return std::nullopt;
    }
  }
  return out;
}

void Inflater::begin(char first) {
  if (stream_) {
    inflateReset(stream_.get());
    return;
  }
  int bits = MAX_WBITS;
  if (coding_ == ContentCoding::gzip)
    bits += kGzipFrame;
  else if (!begins_zlib_frame(first))
    bits = -bits;
  auto stream = std::make_unique<z_stream>();
  if (inflateInit2(stream.get(), bits) != Z_OK) throw std::bad_alloc();
  stream_.reset(stream.release());
}

bool Inflater::step(std::string_view& coded, std::string& out) {
  if (!stream_ || ended_) begin(coded[0]);
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));
  stream_->avail_in = static_cast<uInt>(coded.size());
  stream_->next_out = reinterpret_cast<Bytef*>(piece_.data());
  stream_->avail_out = static_cast<uInt>(piece_.size());
  const int result = inflate(stream_.get(), Z_NO_FLUSH);
  coded.remove_prefix(coded.size() - stream_->avail_in);
  out.assign(piece_.data(), piece_.size() - stream_->avail_out);
  ended_ = result == Z_STREAM_END;
  filled_ = !ended_ && stream_->avail_out == 0;
  return ended_ || result == Z_OK || result == Z_BUF_ERROR;
}

}  // namespace sandgate::egress
