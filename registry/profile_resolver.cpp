#include "registry/profile_resolver.hpp"

#include "gateway/core/random.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;

// Ages apply when a NOTIFY is lost.
constexpr RefreshingCache<ProfileHead>::Options kHeads{
    .capacity = 10'000, .soft = 10s, .hard = 30s, .outage = 1h};
// Few, because a document may have 256 KiB.
constexpr RefreshingCache<Profile>::Options kVersions{
    .capacity = 512, .soft = 24h, .hard = 24h, .outage = 240h};

std::pair<std::optional<TenantId>, std::string> topic_parts(const std::string& topic) {
  const size_t slash = topic.find('/');
  return {TenantId::parse(topic.substr(0, slash)), topic.substr(slash + 1)};
}

std::string version_key(int64_t profile_id, int64_t version) {
  return std::to_string(profile_id) + "@" + std::to_string(version);
}

ProfileChannel channel_of(const ProfileHead& head, const ProfileReference& wanted) {
  if (wanted.version) return {.version = *wanted.version};
  const auto channel = head.channels.find(wanted.channel);
  if (channel == head.channels.end()) throw no_such_version(wanted);
  return channel->second;
}

}  // namespace

ProfileResolver::ProfileResolver(ProfileStore& store, Notifications& notifications)
    : heads_(kHeads,
             [&store](std::string topic) {
               auto [tenant, name] = topic_parts(topic);
               return store.find(std::move(tenant), std::move(name));
             }),
      versions_(kVersions, [&store](std::string key) -> Task<std::optional<Profile>> {
        const size_t at = key.find('@');
        auto reading = store.version(std::stoll(key), std::stoll(key.substr(at + 1)));
        auto version = co_await std::move(reading);
        if (!version) co_return std::nullopt;
        co_return std::move(version->profile);
      }) {
  notifications.subscribe(kProfilesChannel,
                          [this](const std::string& topic) { topic_changed(topic); });
}

Task<ResolvedProfile> ProfileResolver::resolve(std::optional<TenantId> tenant,
                                               std::string reference, std::string stickiness) {
  const auto wanted = profile_reference_from(reference);
  if (!wanted) throw Error::invalid("/profile", "must be a name, name@version or name@channel");
  auto finding = heads_.get(profile_topic(tenant, wanted->name));
  const auto head = co_await std::move(finding);
  if (!head) throw Error::not_found("profile", wanted->name);
  const ProfileChannel channel = channel_of(*head, *wanted);
  if (stickiness.empty()) stickiness = random_hex(8);
  const int64_t version = choose_version(channel, stickiness);
  auto profile = co_await version_of(head, version);
  if (!profile) throw no_such_version(*wanted);
  ResolvedProfile resolved{head->name, head->id, version, head->owner, std::move(profile)};
  if (const auto shadow = choose_shadow(channel, stickiness)) {
    // A missing shadow version must not fail the create.
    auto reading = version_of(head, *shadow);
    const auto outcome = co_await attempt(std::move(reading));
    resolved.shadow_version = *shadow;
    if (const auto* read = std::get_if<0>(&outcome)) resolved.shadow = *read;
  }
  co_return resolved;
}

// Null when there is none.
Task<std::shared_ptr<const Profile>> ProfileResolver::version_of(
    std::shared_ptr<const ProfileHead> head, int64_t version) {
  // Numbers above the newest need no database read and no cache entry.
  if (version > head->latest) co_return nullptr;
  auto reading = versions_.get(version_key(head->id, version));
  auto profile = co_await std::move(reading);
  co_return profile;
}

Task<std::shared_ptr<const Profile>> ProfileResolver::version(int64_t profile_id, int64_t version) {
  auto reading = versions_.get(version_key(profile_id, version));
  auto profile = co_await std::move(reading);
  if (!profile) throw Error::not_found("profile", version_key(profile_id, version));
  co_return profile;
}

void ProfileResolver::changed(const std::optional<TenantId>& owner, std::string_view name) {
  topic_changed(profile_topic(owner, name));
}

void ProfileResolver::topic_changed(const std::string& topic) {
  // Any tenant may see the operator's profile by this name.
  if (topic.empty() || topic.starts_with('/'))
    heads_.expire_all();
  else
    heads_.expire(topic);
}

}  // namespace sandgate
