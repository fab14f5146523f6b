#pragma once
#include <chrono>
#include <map>
#include <string>

namespace sandgate::egress {

// Descriptors that a sandbox uses: its listening sockets, and two per connection.
inline constexpr size_t kListeners = 4, kMaxConnections = 256, kOfConnection = 2;
// Enough for 512 sandboxes with all their connections; more sandboxes share them.
inline constexpr size_t kMaxDescriptors = 512 * kMaxConnections * kOfConnection;

// Raises the process's limit of descriptors to at most `most`: with CAP_SYS_RESOURCE up to
// fs.nr_open, else up to the hard limit. Returns the new limit. Throws StepError.
size_t raise_descriptor_limit(size_t most);

// Limits the open connections of all sandboxes, so that listeners, commands and lookups always find
// free descriptors. A tenant may hold at most as many connections as remain free: alone half of
// all, and a tenant that comes later still finds some. To be used on the loop's thread only.
class DescriptorQuota {
 public:
  explicit DescriptorQuota(size_t descriptors);

  size_t connections() const;  // the limit of all tenants together
  bool can_connect(const std::string& tenant);  // whether one more is allowed; if not, logs it
  void add_connection(const std::string& tenant);  // does not check can_connect()
  void remove_connection(const std::string& tenant);
  void add_listeners() { listeners_ += kListeners; }
  void remove_listeners() { listeners_ -= kListeners; }

 private:
  void log_exhausted(const std::string& tenant, size_t held);

  const size_t all_;  // descriptors, without the reserve
  size_t listeners_ = 0;  // descriptors
  size_t taken_ = 0;  // connections
  std::map<std::string, size_t> tenants_;  // connections of each
  std::chrono::steady_clock::time_point last_warning_;
};

}  // namespace sandgate::egress
