#include "local/egress/mask.hpp"

#include <algorithm>

namespace sandgate::egress {

Needle::Needle(Secret text) : value(std::move(text)), borders(value.reveal().size()) {
  const std::string& word = value.reveal();
  for (size_t at = 1, border = 0; at < word.size(); ++at) {
    while (border > 0 && word[at] != word[border]) border = borders[border - 1];
    if (word[at] == word[border]) ++border;
    borders[at] = static_cast<uint32_t>(border);
  }
}

bool Mask::Search::step(char next) {
  const std::string& word = needle->value.reveal();
  while (found > 0 && word[found] != next) found = needle->borders[found - 1];
  if (word[found] == next) ++found;
  if (found < word.size()) return false;
  found = needle->borders.back();
  return true;
}

Mask::Mask(Needles values) {
  for (auto& needle : values)
    if (!needle->value.empty()) searches_.push_back({std::move(needle)});
}

std::string Mask::pass(std::string_view bytes) {
  if (!hides()) return std::string(bytes);
  take(bytes);
  size_t keep = 0;
  for (const Search& search : searches_) keep = std::max(keep, search.found);
  return release(keep);
}

std::string Mask::rest() { return release(0); }

void Mask::take(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto [count, is_framing] = frames_.next(bytes);
    const size_t begin = bytes_.size();
    bytes_.append(bytes.substr(0, count));
    if (!is_framing)
      for (size_t place = begin; place < bytes_.size(); ++place) say(place);
    bytes.remove_prefix(count);
  }
}

void Mask::say(size_t place) {
  const char said = bytes_[place];
  places_.push_back(place);
  for (Search& search : searches_)
    if (search.step(said)) hide(search);
}

// The part that overlaps with the previous match is hidden already.
void Mask::hide(Search& search) {
  const size_t begin = places_.size() - search.needle->value.reveal().size();
  for (size_t i = std::max(search.hidden, begin); i < places_.size(); ++i) bytes_[places_[i]] = '*';
  search.hidden = places_.size();
}

std::string Mask::release(size_t kept_back) {
  const size_t said = places_.size() - kept_back;
  const size_t end = kept_back == 0 ? bytes_.size() : places_[said];
  std::string out = bytes_.substr(0, end);
  bytes_.erase(0, end);
  places_.erase(places_.begin(), places_.begin() + static_cast<ptrdiff_t>(said));
  for (size_t& place : places_) place -= end;
  for (Search& search : searches_) search.hidden -= std::min(search.hidden, said);
  return out;
}

}  // namespace sandgate::egress
