#include "local/egress/synthetic_names.hpp"

namespace sandgate::egress {

uint32_t SyntheticNames::address_of(const std::string& name) {
  if (const auto known = by_name_.find(name); known != by_name_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
    return known->second->address;
  }
  if (entries_.size() >= kMaxNames) {
    by_name_.erase(entries_.back().name);
    by_address_.erase(entries_.back().address);
    entries_.pop_back();
  }
  // There are far more addresses than names, so an evicted address is not reused soon.
  while (by_address_.contains(kBase + next_) || (next_ & 0xff) == 0 || (next_ & 0xff) == 0xff)
    next_ = (next_ + 1) % kCount;
  const uint32_t address = kBase + next_;
  next_ = (next_ + 1) % kCount;
  entries_.push_front({name, address});
  by_name_[name] = entries_.begin();
  by_address_[address] = entries_.begin();
  return address;
}

std::optional<std::string> SyntheticNames::name_of(uint32_t address) const {
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) return std::nullopt;
  return found->second->name;
}

}  // namespace sandgate::egress
