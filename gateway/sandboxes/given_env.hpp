#pragma once
#include <map>
#include <optional>
#include <string>

#include <pqxx/pqxx>

#include "gateway/core/crypto.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/sandboxes/snapshot_rows.hpp"

// The variables that were given with a create, beyond its profile's: what its copies inherit. They
// may hold secrets: sealed wherever they are stored, kept no longer than what they belong to.
namespace sandgate::given_env {

using Variables = std::map<std::string, std::string>;

// As the sandbox's row keeps them; empty when none were given.
std::optional<std::string> sealed(const Vault& vault, const SandboxId& sandbox,
                                  const Variables& given);

// Those of the sandbox that the snapshot was taken of, as it began.
Variables of_snapshot(pqxx::work& tx, const Vault& vault, const SnapshotRecord& snapshot);

}  // namespace sandgate::given_env
