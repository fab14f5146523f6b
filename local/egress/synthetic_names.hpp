#pragma once
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

namespace sandgate::egress {

// The addresses one sandbox was told for names, so that a connection to such an address says which
// name it means. Addresses are of 198.18.0.0/15, which no network routes; the oldest name gives
// way when the table is full. IPv4 addresses are in host order.
class SyntheticNames {
 public:
  static constexpr uint32_t kBase = 0xC6120000, kCount = 1 << 17;
  static constexpr size_t kMaxNames = 4096;

  // Tables begin at different places, so that an address from an earlier one names nothing here.
  explicit SyntheticNames(uint32_t start) : next_(start % kCount) {}

  uint32_t address_of(const std::string& name);
  std::optional<std::string> name_of(uint32_t address) const;

 private:
  struct Entry {
    std::string name;
    uint32_t address = 0;
  };
  uint32_t next_;
  std::list<Entry> entries_;  // the latest asked for in front
  std::unordered_map<std::string, std::list<Entry>::iterator> by_name_;
  std::unordered_map<uint32_t, std::list<Entry>::iterator> by_address_;
};

}  // namespace sandgate::egress
