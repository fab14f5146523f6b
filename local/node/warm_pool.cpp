#include "local/node/warm_pool.hpp"

#include <algorithm>

namespace sandgate {
namespace {

constexpr std::chrono::seconds kWindow{5};
constexpr std::chrono::minutes kRemembered{10};
// Fewer requests than this within the window do not count.
constexpr std::ptrdiff_t kRush = 3;
constexpr std::chrono::seconds kFirstRest{1};
constexpr int kMostDoublings = 6;
constexpr size_t kMostClasses = 256;

}  // namespace

size_t WarmPool::target(const Class& one, Instant now) const {
  const auto recent = std::count_if(one.asked.begin(), one.asked.end(),
                                    [&](Instant at) { return at + kWindow >= now; });
  const size_t rush = recent >= kRush ? static_cast<size_t>(recent) : 0;
  const size_t kept = one.last_asked + kRemembered >= now ? floor_ : 0;
  return std::min(most_, std::max(rush, kept));
}

size_t WarmPool::missing(const Class& one, Instant now) const {
  const size_t there = one.seats.size() + one.being_made, wanted = target(one, now);
  return one.rests_until > now || wanted <= there ? 0 : wanted - there;
}

bool WarmPool::is_quiet(const Class& one, Instant now) const {
  if (one.seats.empty()) return true;
  const bool low = one.seats.size() * 2 < target(one, now);
  return one.last_asked + (low ? breath_ : Instant::duration(kQuiet)) <= now;
}

size_t WarmPool::being_made() const {
  size_t all = 0;
  for (const auto& [seat_class, one] : classes_) all += one.being_made;
  return all;
}

size_t WarmPool::count() const {
  size_t all = 0;
  for (const auto& [seat_class, one] : classes_) all += one.seats.size() + one.being_made;
  return all;
}

std::optional<std::string> WarmPool::take(const SeatClass& wanted, Instant now) {
  if (most_ == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (!classes_.contains(wanted) && classes_.size() >= kMostClasses) return std::nullopt;
  Class& one = classes_[wanted];
  one.last_asked = last_asked_ = now;
  one.asked.push_back(now);
  if (one.asked.size() > most_) one.asked.pop_front();
  if (one.seats.empty()) return std::nullopt;
  std::string seat = std::move(one.seats.front());
  one.seats.pop_front();
  return seat;
}

std::optional<SeatClass> WarmPool::next_to_make(Instant now) {
  const std::lock_guard lock(mutex_);
  if (count() >= most_) return std::nullopt;
  if (last_asked_ + breath_ > now && being_made() > 0) return std::nullopt;
  auto neediest = classes_.end();
  size_t most_missing = 0;
  for (auto at = classes_.begin(); at != classes_.end(); ++at) {
    const Class& one = at->second;
    const size_t lacking = missing(one, now);
    if (lacking <= most_missing || !is_quiet(one, now)) continue;
    most_missing = lacking;
    neediest = at;
  }
  if (neediest == classes_.end()) return std::nullopt;
  ++neediest->second.being_made;
  return neediest->first;
}

bool WarmPool::lacks(Instant now) const {
  const std::lock_guard lock(mutex_);
  return count() < most_ && std::any_of(classes_.begin(), classes_.end(), [&](const auto& one) {
           return missing(one.second, now) > 0;
         });
}

void WarmPool::add(const SeatClass& made, std::string seat) {
  const std::lock_guard lock(mutex_);
  Class& one = classes_[made];
  if (one.being_made > 0) --one.being_made;
  one.failures = 0;
  one.seats.push_back(std::move(seat));
}

void WarmPool::give_up(const SeatClass& failed, Instant now) {
  const std::lock_guard lock(mutex_);
  Class& one = classes_[failed];
  if (one.being_made > 0) --one.being_made;
  one.rests_until = now + kFirstRest * (1 << std::min(one.failures, kMostDoublings));
  ++one.failures;
}

std::vector<std::string> WarmPool::surplus(Instant now) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> seats;
  for (auto at = classes_.begin(); at != classes_.end();) {
    Class& one = at->second;
    const size_t wanted = target(one, now);
    while (one.seats.size() > wanted) {
      seats.push_back(std::move(one.seats.front()));
      one.seats.pop_front();
    }
    const bool unused = wanted == 0 && one.being_made == 0 && one.last_asked + kWindow < now;
    at = unused ? classes_.erase(at) : std::next(at);
  }
  return seats;
}

std::vector<std::string> WarmPool::drop_image(const std::string& image) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> seats;
  for (auto& [seat_class, one] : classes_) {
    if (seat_class.image != image) continue;
    std::move(one.seats.begin(), one.seats.end(), std::back_inserter(seats));
    one.seats.clear();
    one.asked.clear();
    one.last_asked = {};
  }
  return seats;
}

void WarmPool::forget(const std::string& seat) {
  const std::lock_guard lock(mutex_);
  for (auto& [seat_class, one] : classes_) std::erase(one.seats, seat);
}

size_t WarmPool::waiting() const {
  const std::lock_guard lock(mutex_);
  size_t all = 0;
  for (const auto& [seat_class, one] : classes_) all += one.seats.size();
  return all;
}

}  // namespace sandgate
