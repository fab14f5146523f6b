#pragma once
#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/http/idempotency.hpp"

namespace sandgate::http {

// Stores answers to requests with an Idempotency-Key in the table idempotent_call, shared by all
// replicas. A claim belongs to the loop of the coroutine that started it.
class DatabaseIdempotency final : public IdempotencyStore {
 public:
  struct Options {
    std::chrono::milliseconds lease{6'000};  // renewed every third of it
    std::chrono::milliseconds patience{30'000};  // how long a duplicate waits for the first request
    // How long settle() retries while the database is unavailable.
    std::chrono::milliseconds settle_timeout{5'000};
    size_t max_body_bytes = 64 * 1024;  // larger answers are not stored; a retry then gets conflict
    const Cipher* cipher = nullptr;  // encrypts secret answers; if null, these are not stored
  };
  // `database` must outlive this object and every loop that has used it.
  explicit DatabaseIdempotency(Database& database) : DatabaseIdempotency(database, Options()) {}
  DatabaseIdempotency(Database& database, Options options)
      : database_(database), options_(options) {}

  Task<Start> start(IdempotentCall call) override;
  // Deletes up to 5,000 rows older than `age`, which for an answer counts from when it was stored,
  // and returns their number. The API contract requires keeping answers for at least 24 hours.
  Task<size_t> purge(std::chrono::hours age = std::chrono::hours(25));

 private:
  Database& database_;
  Options options_;
};

}  // namespace sandgate::http
