#pragma once
#include <cstdint>
#include <string>

#include <pqxx/pqxx>

namespace sandgate {

// A limit on how many things of a kind one owner may have.
struct Quota {
  const char* things;  // "secrets"
  const char* count;  // SQL that counts those of the owner $1
  int64_t max;
};

// Throws Error(quota_exceeded) when the owner has `max` already. Holds a lock until the
// transaction ends, so that no other check for the owner passes meanwhile.
void check_quota(pqxx::work& tx, const Quota& quota, const std::string& owner);

}  // namespace sandgate
