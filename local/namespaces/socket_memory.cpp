#include "local/namespaces/socket_memory.hpp"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace sandgate {
namespace {

// The line "TCP: inuse 5 orphan 0 tw 0 alloc 5 mem 9204" gives the pages of all network namespaces.
int64_t held_pages(const std::string& proc, const std::string& protocol) {
  std::ifstream counts(proc + "/net/sockstat");
  for (std::string line; std::getline(counts, line);) {
    const size_t at = line.find(" mem ");
    if (!line.starts_with(protocol + ":") || at == std::string::npos) continue;
    int64_t pages = 0;
    std::istringstream(line.substr(at + 5)) >> pages;
    return pages;
  }
  return 0;
}

SocketMemory memory_of(const std::string& proc, const std::string& protocol, const char* limits) {
  const int64_t page = sysconf(_SC_PAGESIZE);
  SocketMemory memory{.held = held_pages(proc, protocol) * page};
  std::ifstream in(proc + "/sys/net/ipv4/" + limits);
  int64_t least = 0, pressure = 0, most = 0;
  if (!(in >> least >> pressure >> most)) return memory;
  memory.pressure = pressure * page;
  memory.most = most * page;
  return memory;
}

}  // namespace

SocketMemory tcp_memory(const std::string& proc) { return memory_of(proc, "TCP", "tcp_mem"); }
SocketMemory udp_memory(const std::string& proc) { return memory_of(proc, "UDP", "udp_mem"); }

int64_t socket_share(int64_t memory_mib, int64_t most_of_tcp) {
  const int64_t quarter = memory_mib << 18;
  return most_of_tcp > 0 ? std::min(quarter, most_of_tcp / 4) : quarter;
}

std::optional<size_t> largest_holder(const std::vector<int64_t>& held, int64_t least) {
  const auto largest = std::ranges::max_element(held);
  if (largest == held.end() || *largest < least) return std::nullopt;
  return static_cast<size_t>(largest - held.begin());
}

}  // namespace sandgate
