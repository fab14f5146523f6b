#pragma once
#include <optional>
#include <string>
#include <vector>

#include <pqxx/pqxx>

#include "registry/profile_store.hpp"

// The SQL of ProfileStore, inside the caller's transaction.
namespace sandgate::profile_rows {

std::optional<ProfileHead> find(pqxx::work& tx, const std::optional<TenantId>& tenant,
                                const std::string& name);
// The same, or else an archived one.
std::optional<ProfileHead> find_with_archived(pqxx::work& tx, const std::optional<TenantId>& tenant,
                                              const std::string& name);
std::vector<ProfileHead> list(pqxx::work& tx, const std::optional<TenantId>& tenant,
                              const std::string& after, int64_t limit);
std::optional<ProfileVersion> version(pqxx::work& tx, int64_t profile_id, int64_t version);
std::vector<ListedVersion> versions(pqxx::work& tx, int64_t profile_id,
                                    std::optional<int64_t> below, int64_t limit);

// Exactly the owner's profile, locked until the transaction ends. Throws Error(not_found) when
// there is none or it is archived; the message says so if the name is that of the operator's.
ProfileHead lock_existing(pqxx::work& tx, const std::optional<TenantId>& owner,
                          const std::string& name);
// The same, but creates the profile or brings it back from the archive when needed.
ProfileHead lock_or_create(pqxx::work& tx, const std::optional<TenantId>& owner,
                           const std::string& name);

// The content hash of a version; empty when there is none.
std::string hash_of(pqxx::work& tx, int64_t profile_id, int64_t version);
void add_version(pqxx::work& tx, const ProfileHead& head, const Profile& profile,
                 const std::string& created_by);  // head.latest + 1
void set_channel(pqxx::work& tx, int64_t profile_id, const std::string& name,
                 const ProfileChannel& channel);
void set_archived(pqxx::work& tx, int64_t profile_id);

}  // namespace sandgate::profile_rows
