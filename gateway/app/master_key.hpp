#pragma once
#include <optional>
#include <string>

#include "gateway/config/config.hpp"
#include "gateway/core/database.hpp"

namespace sandgate {

// The configured key or that of $home/master.key: 32 bytes. Throws Error(invalid) if it cannot be
// read or is none.
Secret master_key(const Config& config);

// 32 hex digits that tell keys apart and from which no key can be worked out.
std::string fingerprint(const Secret& key);

// The fingerprint in the database; empty before a gateway has recorded one.
std::optional<std::string> known_fingerprint(pqxx::work& tx);

enum class KeyClaim {
  ours,  // the database's key is this one, perhaps from now on
  anothers,  // the database's key is another, but it has sealed nothing yet
  given_up,  // this one takes the place of one that is lost
};

// Records `key` as the one that seals this database, if there is none yet. The first gateway's
// counts, and where values were sealed before fingerprints were kept, it must open one of them.
// Throws Error(conflict) if all that is sealed is so with another key, unless `lost` is what the
// database knows that key by. Call after migrate() and before anything is sealed.
KeyClaim claim_database(pqxx::work& tx, const Secret& key, const std::string& lost);

// For a gateway without a key, before one is made for it: throws Error(conflict) if values in the
// configured database are sealed. One that does not answer is left to claim_database().
void check_key_is_wanted(const Config& config);

}  // namespace sandgate
