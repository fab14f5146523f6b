#pragma once
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

namespace sandgate::egress {

// A sandbox's table of synthetic addresses: DNS answers each name with an address of its own, so
// that a connection to the address identifies the name. Addresses are in 198.18.0.0/15, which is
// not routed on the internet. A full table evicts the name least recently asked for. IPv4 addresses
// are in host order.
class SyntheticNames {
 public:
  static constexpr uint32_t kBase = 0xC6120000, kCount = 1 << 17;
  static constexpr size_t kMaxNames = 4096;

  // `start` should be random, so that addresses from an earlier table are unknown to this one.
  explicit SyntheticNames(uint32_t start) : next_(start % kCount) {}

  uint32_t address_of(const std::string& name);
  std::optional<std::string> name_of(uint32_t address) const;

 private:
  struct Entry {
    std::string name;
    uint32_t address = 0;
  };
  uint32_t next_;
  std::list<Entry> entries_;  // the most recently asked for in front
  std::unordered_map<std::string, std::list<Entry>::iterator> by_name_;
  std::unordered_map<uint32_t, std::list<Entry>::iterator> by_address_;
};

}  // namespace sandgate::egress
