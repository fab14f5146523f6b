#include "local/egress/mask.hpp"

#include <algorithm>

namespace sandgate::egress {
namespace {

// How many bytes at the end of `text` are the beginning of `value`.
size_t begun_at_end(std::string_view text, std::string_view value) {
  for (size_t length = std::min(text.size(), value.size() - 1); length > 0; --length)
    if (text.ends_with(value.substr(0, length))) return length;
  return 0;
}

}  // namespace

Mask::Mask(std::vector<Secret> values) : values_(std::move(values)) {
  std::erase_if(values_, [](const Secret& value) { return value.empty(); });
}

std::string Mask::pass(std::string_view bytes) {
  if (!hides()) return std::string(bytes);
  take(bytes);
  size_t keep = 0;
  for (const Secret& value : values_) {
    hide(value.reveal());
    keep = std::max(keep, begun_at_end(said_, value.reveal()));
  }
  return release(keep);
}

std::string Mask::rest() { return release(0); }

void Mask::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto [count, is_framing] = frames_.next(bytes);
    if (!is_framing) {
      for (size_t i = 0; i < count; ++i) places_.push_back(bytes_.size() + i);
      said_.append(bytes.substr(0, count));
    }
    bytes_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
  }
}

void Mask::hide(const std::string& value) {
  for (size_t at = said_.find(value); at != std::string::npos; at = said_.find(value, at)) {
    for (const size_t end = at + value.size(); at < end; ++at)
      said_[at] = bytes_[places_[at]] = '*';
  }
}

std::string Mask::release(size_t kept_back) {
  const size_t said = said_.size() - kept_back;
  const size_t end = kept_back == 0 ? bytes_.size() : places_[said];
  std::string out = bytes_.substr(0, end);
  bytes_.erase(0, end);
  said_.erase(0, said);
  places_.erase(places_.begin(), places_.begin() + static_cast<ptrdiff_t>(said));
  for (size_t& place : places_) place -= end;
  return out;
}

}  // namespace sandgate::egress
