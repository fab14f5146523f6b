#include "local/node/supervisor/warm_pool.hpp"

#include <algorithm>

namespace sandgate {
namespace {

constexpr std::chrono::seconds kWindow{5};
constexpr std::chrono::minutes kRemembered{10};
// Fewer requests than this within the window do not count.
constexpr std::ptrdiff_t kRush = 3;
constexpr std::chrono::seconds kFirstBackoff{1};
constexpr int kMaxDoublings = 6;
constexpr size_t kMaxClasses = 256;

}  // namespace

size_t WarmPool::target(const Class& one, Instant now) const {
  const auto recent = std::count_if(one.asked.begin(), one.asked.end(),
                                    [&](Instant at) { return at + kWindow >= now; });
  const size_t rush = recent >= kRush ? static_cast<size_t>(recent) : 0;
  const size_t kept = one.last_asked + kRemembered >= now ? floor_ : 0;
  return std::min(most_, std::max(rush, kept));
}

size_t WarmPool::missing(const Class& one, Instant now) const {
  const size_t there = one.warm.size() + one.being_made, wanted = target(one, now);
  return one.backoff_until > now || wanted <= there ? 0 : wanted - there;
}

bool WarmPool::is_quiet(const Class& one, Instant now) const {
  if (one.warm.empty()) return true;
  const bool low = one.warm.size() * 2 < target(one, now);
  return one.last_asked + (low ? refill_delay_ : Instant::duration(kQuietPeriod)) <= now;
}

size_t WarmPool::being_made() const {
  size_t all = 0;
  for (const auto& [warm_class, one] : classes_) all += one.being_made;
  return all;
}

size_t WarmPool::count() const {
  size_t all = 0;
  for (const auto& [warm_class, one] : classes_) all += one.warm.size() + one.being_made;
  return all;
}

std::optional<std::string> WarmPool::take(const WarmClass& wanted, Instant now) {
  if (most_ == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (!classes_.contains(wanted) && classes_.size() >= kMaxClasses) return std::nullopt;
  Class& one = classes_[wanted];
  one.last_asked = last_asked_ = now;
  one.asked.push_back(now);
  if (one.asked.size() > most_) one.asked.pop_front();
  if (one.warm.empty()) return std::nullopt;
  std::string warm = std::move(one.warm.front());
  one.warm.pop_front();
  return warm;
}

std::optional<WarmClass> WarmPool::next_to_make(Instant now) {
  const std::lock_guard lock(mutex_);
  if (count() >= most_) return std::nullopt;
  if (last_asked_ + refill_delay_ > now && being_made() > 0) return std::nullopt;
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

void WarmPool::add(const WarmClass& made, std::string warm) {
  const std::lock_guard lock(mutex_);
  Class& one = classes_[made];
  if (one.being_made > 0) --one.being_made;
  one.failures = 0;
  one.warm.push_back(std::move(warm));
}

void WarmPool::back_off(const WarmClass& failed, Instant now) {
  const std::lock_guard lock(mutex_);
  Class& one = classes_[failed];
  if (one.being_made > 0) --one.being_made;
  one.backoff_until = now + kFirstBackoff * (1 << std::min(one.failures, kMaxDoublings));
  ++one.failures;
}

std::vector<std::string> WarmPool::surplus(Instant now) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> warm;
  for (auto at = classes_.begin(); at != classes_.end();) {
    Class& one = at->second;
    const size_t wanted = target(one, now);
    while (one.warm.size() > wanted) {
      warm.push_back(std::move(one.warm.front()));
      one.warm.pop_front();
    }
    const bool unused = wanted == 0 && one.being_made == 0 && one.last_asked + kWindow < now;
    at = unused ? classes_.erase(at) : std::next(at);
  }
  return warm;
}

std::vector<std::string> WarmPool::drop_image(const std::string& image) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> warm;
  for (auto& [warm_class, one] : classes_) {
    if (warm_class.image != image) continue;
    std::move(one.warm.begin(), one.warm.end(), std::back_inserter(warm));
    one.warm.clear();
    one.asked.clear();
    one.last_asked = {};
  }
  return warm;
}

void WarmPool::forget(const std::string& warm) {
  const std::lock_guard lock(mutex_);
  for (auto& [warm_class, one] : classes_) std::erase(one.warm, warm);
}

size_t WarmPool::waiting() const {
  const std::lock_guard lock(mutex_);
  size_t all = 0;
  for (const auto& [warm_class, one] : classes_) all += one.warm.size();
  return all;
}

}  // namespace sandgate
