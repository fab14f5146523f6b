#include "local/egress/descriptor_quota.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include "gateway/core/log.hpp"
#include "local/namespaces/step_error.hpp"

namespace sandgate::egress {
namespace {

// Descriptors for 64 lookups with a few files and sockets each, queued orders, and serve's
// connections.
constexpr size_t kReserve = 1024;
constexpr std::chrono::minutes kBetweenWarnings{1};

rlim_t most_of_machine() {
  rlim_t most = 0;
  std::ifstream("/proc/sys/fs/nr_open") >> most;
  return most;
}

}  // namespace

size_t raise_descriptor_limit(size_t most) {
  rlimit files{};
  check(getrlimit(RLIMIT_NOFILE, &files), "resource limit");
  const rlim_t wanted = std::min<rlim_t>(most, most_of_machine());
  const rlimit raised{wanted, wanted};
  if (wanted > files.rlim_max && setrlimit(RLIMIT_NOFILE, &raised) == 0) return wanted;
  files.rlim_cur = files.rlim_max = std::min<rlim_t>(files.rlim_max, most);
  check(setrlimit(RLIMIT_NOFILE, &files), "resource limit");
  return files.rlim_cur;
}

DescriptorQuota::DescriptorQuota(size_t descriptors)
    : all_(descriptors - std::min(kReserve, descriptors / 4)) {}

size_t DescriptorQuota::connections() const {
  return (all_ - std::min(all_, listeners_)) / kOfConnection;
}

bool DescriptorQuota::can_connect(const std::string& tenant) {
  const auto found = tenants_.find(tenant);
  const size_t held = found == tenants_.end() ? 0 : found->second;
  if (held + taken_ < connections()) return true;
  log_exhausted(tenant, held);
  return false;
}

void DescriptorQuota::add_connection(const std::string& tenant) {
  ++tenants_[tenant];
  ++taken_;
}

void DescriptorQuota::remove_connection(const std::string& tenant) {
  if (--tenants_[tenant] == 0) tenants_.erase(tenant);
  --taken_;
}

void DescriptorQuota::log_exhausted(const std::string& tenant, size_t held) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_warning_ < kBetweenWarnings) return;
  last_warning_ = now;
  log::warn("connections out of sandboxes wait",
            {{"tenant", tenant}, {"held", held}, {"of_all", taken_}, {"room", connections()}});
}

}  // namespace sandgate::egress
