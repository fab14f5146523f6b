#pragma once
#include <chrono>
#include <map>
#include <string>

namespace sandgate::egress {

// Descriptors that a sandbox uses: its listening sockets (doors), and two per connection.
inline constexpr size_t kDoors = 4, kMaxConnections = 256, kOfConnection = 2;
// Enough for 512 sandboxes with all their connections; more sandboxes share them.
inline constexpr size_t kMostDescriptors = 512 * kMaxConnections * kOfConnection;

// Raises the process's limit of descriptors to at most `most`: with CAP_SYS_RESOURCE up to
// fs.nr_open, else up to the hard limit. Returns the new limit. Throws StepError.
size_t raise_descriptor_limit(size_t most);

// Limits the open connections of all sandboxes, so that doors, orders and lookups always find free
// descriptors. A tenant may hold at most as many connections as remain free: alone half of all, and
// a tenant that comes later still finds some. To be used on the loop's thread only.
class DescriptorRoom {
 public:
  explicit DescriptorRoom(size_t descriptors);

  size_t connections() const;  // the limit of all tenants together
  bool has_place(const std::string& tenant);  // whether one more is allowed; if not, logs it
  void take(const std::string& tenant);  // does not check has_place()
  void give_back(const std::string& tenant);
  void open_doors() { doors_ += kDoors; }
  void close_doors() { doors_ -= kDoors; }

 private:
  void tell(const std::string& tenant, size_t held);

  const size_t all_;  // descriptors, without the reserve
  size_t doors_ = 0;  // descriptors
  size_t taken_ = 0;  // connections
  std::map<std::string, size_t> tenants_;  // connections of each
  std::chrono::steady_clock::time_point told_;
};

}  // namespace sandgate::egress
