#include "gateway/app/foundation.hpp"

#include <thread>

#include "gateway/app/background.hpp"
#include "gateway/app/machine_name.hpp"
#include "gateway/app/master_key.hpp"
#include "gateway/core/log.hpp"
#include "gateway/core/sql_time.hpp"

namespace sandgate {
namespace {

constexpr std::chrono::milliseconds kClockDoubt{100};

size_t io_threads(const Config& config) {
  const auto cores = std::max(1u, std::thread::hardware_concurrency());
  return config.threads.io > 0 ? static_cast<size_t>(config.threads.io) : cores;
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
      cipher(master_key(config)) {}

void Foundation::start() {
  repeat(executor(), "clock", std::chrono::seconds(10), [this] { return anchor_clock(); });
}

Task<void> Foundation::claim_database() {
  auto claim = [this](pqxx::work& tx) {
    return sandgate::claim_database(tx, master_key(config), config.master_key_lost);
  };
  const KeyClaim result = co_await database.run(std::move(claim));
  if (result == KeyClaim::given_up)
    log::warn("another master key counts from now on: what was sealed before is given up");
  if (result == KeyClaim::anothers)
    log::warn("the database's master key is another: copy it before anything is sealed",
              {{"home", config.home}});
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
