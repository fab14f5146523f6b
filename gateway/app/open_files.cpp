#include "gateway/app/open_files.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "gateway/core/log.hpp"

namespace sandgate {
namespace {

constexpr uint64_t kReserve = 512;

}  // namespace

int64_t connections_within(uint64_t files, int64_t wanted, int64_t listeners) {
  const uint64_t reserve = std::max(files / 4, std::min(kReserve, files / 2));
  const uint64_t room = (files - reserve) / static_cast<uint64_t>(listeners);
  return std::max<int64_t>(
      1, static_cast<int64_t>(std::min<uint64_t>(room, static_cast<uint64_t>(wanted))));
}

void fit_connections(Config& config) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const int64_t wanted = config.limits.connections;
  config.limits.connections =
      connections_within(files.rlim_cur, wanted, static_cast<int64_t>(config.listeners().size()));
  if (config.limits.connections < wanted)
    log::warn("the limit of open files leaves fewer connections than limits.connections",
              {{"connections", config.limits.connections},
               {"wanted", wanted},
               {"open_files", static_cast<uint64_t>(files.rlim_cur)}});
}

}  // namespace sandgate
