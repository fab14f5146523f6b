#include "registry/profile_store.hpp"

#include "gateway/core/notifications.hpp"
#include "registry/profile_rows.hpp"
#include "registry/quota.hpp"
#include "registry/sql.hpp"

namespace sandgate {
namespace {

// `latest > 0` leaves out the row that publish() has just made for its first version.
constexpr Quota kProfiles{"profiles, archived ones included",
                          "SELECT count(*) FROM profile WHERE tenant = $1 AND latest > 0",
                          ProfileStore::kMaxPerTenant};

constexpr Quota kChannels{
    "channels of a profile: move one that is there, or archive the profile and publish it again, "
    "which forgets them",
    "SELECT count(*) FROM profile_channel WHERE profile = $1::bigint", ProfileStore::kMaxChannels};

struct Change {
  std::string action;
  std::optional<TenantId> owner;
  std::string name;
  Json before, after;
};

void record(pqxx::work& tx, const Actor& actor, Change change) {
  notify(tx, kProfilesChannel, profile_topic(change.owner, change.name));
  audit(tx, {.actor = actor,
             .tenant = std::move(change.owner),
             .action = std::move(change.action),
             .object = std::move(change.name),
             .before = std::move(change.before),
             .after = std::move(change.after)});
}

void require_version(const ProfileHead& head, int64_t version, const char* path) {
  if (version < 1 || version > head.latest)
    throw Error::invalid(path, "'" + head.name + "' has no version " + std::to_string(version));
}

// The existing version with this content: the one in force on the channel, which may be older than
// the newest after a rollback, else the newest. Empty: neither has it.
std::optional<int64_t> same_version(pqxx::work& tx, const ProfileHead& head,
                                    const std::string& channel, const std::string& hash) {
  const auto in_force = head.channels.find(channel);
  if (in_force != head.channels.end() &&
      profile_rows::hash_of(tx, head.id, in_force->second.version) == hash)
    return in_force->second.version;
  if (profile_rows::hash_of(tx, head.id, head.latest) == hash) return head.latest;
  return std::nullopt;
}

void point_channel(pqxx::work& tx, const ProfileHead& head, const std::string& name,
                   const ProfileChannel& target) {
  if (!head.channels.contains(name)) check_quota(tx, kChannels, std::to_string(head.id));
  profile_rows::set_channel(tx, head.id, name, target);
}

Json channel_json(const ProfileHead& head, const std::string& name) {
  const auto found = head.channels.find(name);
  return found == head.channels.end() ? Json() : to_json(found->second);
}

}  // namespace

std::string profile_topic(const std::optional<TenantId>& owner, std::string_view name) {
  return (owner ? owner->value : "") + "/" + std::string(name);
}

Task<Published> ProfileStore::publish(std::optional<TenantId> owner, Profile profile,
                                      std::string channel, Actor actor) {
  return database_.run([=](pqxx::work& tx) {
    const ProfileHead head = profile_rows::lock_or_create(tx, owner, profile.name);
    if (owner && head.latest == 0) check_quota(tx, kProfiles, owner->value);
    const auto same = same_version(tx, head, channel, content_hash(profile));
    const bool changed = !same;
    if (changed && head.latest >= kMaxVersions)
      throw Error(ErrorCode::quota_exceeded,
                  "at most " + std::to_string(kMaxVersions) + " versions of a profile");
    if (changed) profile_rows::add_version(tx, head, profile, actor.key_id);
    const int64_t version = same.value_or(head.latest + 1);
    if (!channel.empty()) point_channel(tx, head, channel, {.version = version});
    record(tx, actor,
           {.action = "profile.publish",
            .owner = owner,
            .name = profile.name,
            .before = head.latest ? Json{{"version", head.latest}} : Json(),
            .after = {{"version", version}, {"channel", channel}, {"changed", changed}}});
    return Published{.version = *profile_rows::version(tx, head.id, version), .changed = changed};
  });
}

Task<ProfileHead> ProfileStore::set_channel(std::optional<TenantId> owner, std::string name,
                                            std::string channel, ProfileChannel target,
                                            Actor actor) {
  return database_.run([=](pqxx::work& tx) {
    const ProfileHead head = profile_rows::lock_existing(tx, owner, name);
    require_version(head, target.version, "/version");
    if (target.canary) require_version(head, target.canary->version, "/canary/version");
    if (target.shadow) require_version(head, target.shadow->version, "/shadow/version");
    point_channel(tx, head, channel, target);
    record(tx, actor,
           {.action = "profile.point",
            .owner = owner,
            .name = name,
            .before = {{channel, channel_json(head, channel)}},
            .after = {{channel, to_json(target)}}});
    return profile_rows::lock_existing(tx, owner, name);
  });
}

Task<void> ProfileStore::archive(std::optional<TenantId> owner, std::string name, Actor actor) {
  return database_.run([=](pqxx::work& tx) {
    const ProfileHead head = profile_rows::lock_existing(tx, owner, name);
    profile_rows::set_archived(tx, head.id);
    record(tx, actor,
           {.action = "profile.archive",
            .owner = owner,
            .name = name,
            .before = {{"version", head.latest}},
            .after = nullptr});
  });
}

Task<std::optional<ProfileHead>> ProfileStore::find(std::optional<TenantId> tenant,
                                                    std::string name) {
  return database_.run([=](pqxx::work& tx) { return profile_rows::find(tx, tenant, name); });
}

Task<std::optional<ProfileHead>> ProfileStore::find_with_archived(std::optional<TenantId> tenant,
                                                                  std::string name) {
  return database_.run(
      [=](pqxx::work& tx) { return profile_rows::find_with_archived(tx, tenant, name); });
}

Task<std::vector<ProfileHead>> ProfileStore::list(std::optional<TenantId> tenant, std::string after,
                                                  int64_t limit) {
  return database_.run(
      [=](pqxx::work& tx) { return profile_rows::list(tx, tenant, after, limit); });
}

Task<std::optional<ProfileVersion>> ProfileStore::version(int64_t profile_id, int64_t version) {
  return database_.run(
      [=](pqxx::work& tx) { return profile_rows::version(tx, profile_id, version); });
}

Task<std::vector<ListedVersion>> ProfileStore::versions(int64_t profile_id,
                                                        std::optional<int64_t> below,
                                                        int64_t limit) {
  return database_.run(
      [=](pqxx::work& tx) { return profile_rows::versions(tx, profile_id, below, limit); });
}

}  // namespace sandgate
