#include "gateway/app/foundation.hpp"

#include <fstream>
#include <thread>

#include "gateway/app/background.hpp"
#include "gateway/app/machine_name.hpp"
#include "gateway/core/sql_time.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kClockDoubt{100};

size_t io_threads(const Config& config) {
  const auto cores = std::max(1u, std::thread::hardware_concurrency());
  return config.threads.io > 0 ? static_cast<size_t>(config.threads.io) : cores;
}

Secret master_key(const Config& config) {
  std::string hex = config.master_key.reveal();
  if (hex.empty()) {
    std::ifstream file(config.master_key_file());
    if (!file)
      throw Error(ErrorCode::invalid, "the master key cannot be read: check that " +
                                          config.master_key_file() +
                                          " is there and belongs to the gateway's account");
    file >> hex;
  }
  const auto bytes = from_hex(hex);
  if (!bytes || bytes->size() != 32)
    throw Error(ErrorCode::invalid, "the master key must be 64 hex digits: check " +
                                        config.master_key_file() + " or SANDGATE_MASTER_KEY");
  return Secret(*bytes);
}

}  // namespace

Foundation::Foundation(const Config& settings)
    : config(settings),
      machine(machine_name(config.machine_file())),
      io(io_threads(config)),
      database({.url = config.database_url(),
                .connections = static_cast<size_t>(config.database.connections),
                .patience = std::chrono::milliseconds(config.database.patience_ms)}),
      notifications(config.database_url()),
      vault(master_key(config)) {}

void Foundation::start() {
  repeat(executor(), "clock", std::chrono::seconds(10), [this] { return anchor_clock(); });
}

Task<void> Foundation::anchor_clock() {
  const auto asked = std::chrono::steady_clock::now();
  const Time now = co_await database.run(&database_now);
  const auto answered = std::chrono::steady_clock::now();
  // A slow answer does not tell accurately when the time was read.
  if (clock.anchored() && answered - asked > kClockDoubt) co_return;
  clock.anchor(now, asked + (answered - asked) / 2);
}

Secret Foundation::key_for(std::string_view purpose) const {
  return Secret(hmac_sha256_hex(master_key(config), purpose));
}

}  // namespace sandgate
