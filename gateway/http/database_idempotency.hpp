#pragma once
#include "gateway/core/crypto.hpp"
#include "gateway/core/database.hpp"
#include "gateway/http/idempotency.hpp"

namespace sandgate::http {

// Answers under an Idempotency-Key in the table idempotent_call, shared by all replicas. Claims
// belong to the loop of the coroutine that started them.
class DatabaseIdempotency final : public IdempotencyStore {
 public:
  struct Options {
    std::chrono::milliseconds lease{6'000};  // renewed at a third of it
    std::chrono::milliseconds patience{30'000};  // how long a twin waits for the first
    std::chrono::milliseconds keeping{
        5'000};  // how long an answer waits for a database that is away
    size_t max_body_bytes = 64 * 1024;  // a larger answer cannot be given again: conflict
    const Vault* vault = nullptr;  // seals answers with secrets; without it they are not kept
  };
  // `database` must outlive it and every loop that has used it.
  explicit DatabaseIdempotency(Database& database) : DatabaseIdempotency(database, Options()) {}
  DatabaseIdempotency(Database& database, Options options)
      : database_(database), options_(options) {}

  Task<Start> start(IdempotentCall call) override;
  // Forgets answers older than `age`, some thousands at a time; returns how many. The contract
  // asks for at least 24 hours.
  Task<size_t> purge(std::chrono::hours age = std::chrono::hours(25));

 private:
  Database& database_;
  Options options_;
};

}  // namespace sandgate::http
