#pragma once
#include <map>
#include <optional>
#include <string>

#include <pqxx/pqxx>

#include "gateway/core/crypto.hpp"
#include "gateway/core/ids.hpp"
#include "gateway/sandboxes/rows/snapshot_rows.hpp"

// Environment variables given to a create beyond its profile's; copies inherit them. They may hold
// secrets, so they are stored sealed and deleted with the sandbox or snapshot they belong to.
namespace sandgate::given_env {

using Variables = std::map<std::string, std::string>;

// The sealed form for the sandbox's row; empty when no variables were given.
std::optional<std::string> sealed(const Cipher& cipher, const SandboxId& sandbox,
                                  const Variables& given);

// The variables given to the snapshot's sandbox when it was created.
Variables of_snapshot(pqxx::work& tx, const Cipher& cipher, const SnapshotRecord& snapshot);

}  // namespace sandgate::given_env
