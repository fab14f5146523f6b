#pragma once
#include <chrono>
#include <map>
#include <string>

namespace sandgate::egress {

// What one sandbox takes of the process's descriptors: its doors, and two for each connection.
inline constexpr size_t kDoors = 4, kMaxConnections = 256, kOfConnection = 2;
// As many as 512 sandboxes need that all have all their connections; more sandboxes share them.
inline constexpr size_t kMostDescriptors = 512 * kMaxConnections * kOfConnection;

// From now on the process may have `most` descriptors, or as many as the machine gives: with
// CAP_SYS_RESOURCE up to fs.nr_open, else up to the hard limit. Returns how many. Throws StepError.
size_t raise_descriptor_limit(size_t most);

// How many connections of all sandboxes may be open at once: so few that doors, orders and lookups
// always find descriptors. A tenant may hold as many as are left free: alone half of all, and
// whoever comes later still finds some. On the loop's thread.
class DescriptorRoom {
 public:
  explicit DescriptorRoom(size_t descriptors);

  size_t connections() const;  // of everybody together
  bool has_place(const std::string& tenant);
  void take(const std::string& tenant);  // has_place or not: that is for the caller to ask
  void give_back(const std::string& tenant);
  void open_doors() { doors_ += kDoors; }
  void close_doors() { doors_ -= kDoors; }

 private:
  void tell(const std::string& tenant, size_t held);

  const size_t all_;  // descriptors, without the reserve
  size_t doors_ = 0;  // descriptors
  size_t taken_ = 0;  // connections
  std::map<std::string, size_t> tenants_;  // how many connections each has
  std::chrono::steady_clock::time_point told_;
};

}  // namespace sandgate::egress
