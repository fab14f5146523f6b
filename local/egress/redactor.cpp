#include "local/egress/redactor.hpp"

#include <algorithm>

namespace sandgate::egress {
namespace {

// So many bytes at its beginning make a longer value: the rest is hidden as it comes. Between two
// bytes there may be framing, so what is held back is many times as much.
constexpr size_t kDecisive = 256;
constexpr size_t kMaxHeld = 16 * 1024;

}  // namespace

Needle::Needle(Secret text) : value(std::move(text)), borders(value.reveal().size()) {
  const std::string& word = value.reveal();
  for (size_t at = 1, border = 0; at < word.size(); ++at) {
    while (border > 0 && word[at] != word[border]) border = borders[border - 1];
    if (word[at] == word[border]) ++border;
    borders[at] = static_cast<uint32_t>(border);
  }
}

size_t Redactor::Search::step(char next) {
  const std::string& word = needle->value.reveal();
  while (found > 0 && word[found] != next) found = needle->borders[found - 1];
  if (word[found] == next) ++found;
  const size_t matched = found;
  if (found == word.size()) found = needle->borders.back();
  return matched >= std::min(word.size(), kDecisive) ? matched : 0;
}

Redactor::Redactor(Needles values) {
  for (auto& needle : values)
    if (!needle->value.empty()) searches_.push_back({std::move(needle)});
}

std::string Redactor::redact(std::string_view bytes) {
  if (!is_active()) return std::string(bytes);
  take(bytes);
  size_t keep = 0;
  for (const Search& search : searches_)
    if (search.found < kDecisive) keep = std::max(keep, search.found);
  std::string shown = release(std::min(keep, places_.size()));
  failed_ = failed_ || bytes_.size() > kMaxHeld;
  return shown;
}

std::string Redactor::flush() {
  if (control_) hide_control();
  return failed_ ? "" : release(0);
}

void Redactor::take(std::string_view bytes) {
  while (!bytes.empty() && !failed_) {
    const ResponseSpan run = frames_.next(bytes);
    failed_ = run.kind == ResponseSpan::Kind::lost;
    const size_t begin = bytes_.size();
    if (run.kind != ResponseSpan::Kind::dropped) bytes_.append(bytes.substr(0, run.bytes));
    if (run.kind == ResponseSpan::Kind::content)
      for (size_t place = begin; place < bytes_.size(); ++place) search_at(place);
    const bool is_control = run.kind == ResponseSpan::Kind::control;
    if (is_control && !control_) control_ = begin;
    if (is_control && run.ends_message) hide_control();
    if (!is_control && run.ends_message)
      for (Search& search : searches_) search.found = 0;
    bytes.remove_prefix(run.bytes);
  }
}

void Redactor::search_at(size_t place) {
  const char said = bytes_[place];
  places_.push_back(place);
  for (Search& search : searches_)
    if (const size_t matched = search.step(said)) hide(search, matched);
}

// By searches of its own: those of the message that it interrupts go on behind it.
void Redactor::hide_control() {
  std::vector<Search> searches;
  for (const Search& search : searches_) searches.push_back({search.needle});
  for (size_t place = *control_; place < bytes_.size(); ++place) {
    const char said = bytes_[place];
    for (Search& search : searches)
      if (const size_t matched = search.step(said))
        bytes_.replace(place + 1 - matched, matched, matched, '*');
  }
  control_.reset();
}

// The part that overlaps with the previous match is hidden already, perhaps even returned.
void Redactor::hide(Search& search, size_t matched) {
  const size_t begin = places_.size() - std::min(matched, places_.size());
  for (size_t i = std::max(search.hidden, begin); i < places_.size(); ++i) bytes_[places_[i]] = '*';
  search.hidden = places_.size();
}

std::string Redactor::release(size_t kept_back) {
  const size_t said = places_.size() - kept_back;
  const size_t end = kept_back == 0 ? control_.value_or(bytes_.size()) : places_[said];
  std::string out = bytes_.substr(0, end);
  bytes_.erase(0, end);
  places_.erase(places_.begin(), places_.begin() + static_cast<ptrdiff_t>(said));
  for (size_t& place : places_) place -= end;
  if (control_) *control_ -= end;
  for (Search& search : searches_) search.hidden -= std::min(search.hidden, said);
  return out;
}

}  // namespace sandgate::egress
