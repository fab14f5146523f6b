#include "local/agent/backlog_sum.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <numeric>

namespace sandgate::agent {
namespace {

constexpr uint32_t kKernelDefault = 4096;

}  // namespace

bool BacklogSum::has_room_for(uint32_t backlog, size_t listening) {
  backlogs_.resize(std::min(backlogs_.size(), listening));
  const uint32_t taken = std::accumulate(backlogs_.begin(), backlogs_.end(), uint32_t{0});
  return taken + std::min(backlog, most_at_one_) <= kMaxTotal;
}

void BacklogSum::add(uint32_t backlog) {
  const uint32_t cut = std::min(backlog, most_at_one_);
  backlogs_.insert(std::ranges::upper_bound(backlogs_, cut, std::greater{}), cut);
}

uint32_t most_connections_waiting() {
  std::ifstream setting("/proc/sys/net/core/somaxconn");
  uint32_t most = 0;
  return setting >> most ? most : kKernelDefault;
}

}  // namespace sandgate::agent
