#pragma once
#include <cstdint>
#include <string>

#include <pqxx/pqxx>

namespace sandgate {

// How many of a thing one owner may have.
struct Quota {
  const char* things;  // "secrets"
  const char* count;  // SQL that counts those of the owner $1
  int64_t most;
};

// Throws Error(quota_exceeded) when the owner has as many already. Until the transaction ends
// nobody else adds one.
void check_quota(pqxx::work& tx, const Quota& quota, const std::string& owner);

}  // namespace sandgate
