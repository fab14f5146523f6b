#include "registry/profile_resolver.hpp"

#include "gateway/core/random.hpp"

namespace sandgate {
namespace {

using namespace std::chrono_literals;

// NOTIFY carries the news; the ages are for the day it does not.
constexpr RefreshingCache<ProfileHead>::Options kHeads{
    .capacity = 10'000, .soft = 10s, .hard = 30s, .outage = 1h};
// Few, because a document may have 256 KiB.
constexpr RefreshingCache<Profile>::Options kVersions{
    .capacity = 512, .soft = 24h, .hard = 24h, .outage = 240h};

std::pair<std::optional<TenantId>, std::string> topic_parts(const std::string& topic) {
  const size_t slash = topic.find('/');
  return {TenantId::parse(topic.substr(0, slash)), topic.substr(slash + 1)};
}

int64_t chosen_version(const ProfileHead& head, const ProfileReference& wanted,
                       const std::string& stickiness) {
  if (wanted.version) return *wanted.version;
  const auto channel = head.channels.find(wanted.channel);
  if (channel == head.channels.end())
    throw Error::not_found("profile", wanted.name + "@" + wanted.channel);
  return choose_version(channel->second, stickiness.empty() ? random_hex(8) : stickiness);
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
  const int64_t version = chosen_version(*head, *wanted, stickiness);
  // The newest is known: numbers above it need no look and leave nothing in memory.
  if (version > head->latest) throw Error::not_found("profile", reference);
  auto reading = versions_.get(std::to_string(head->id) + "@" + std::to_string(version));
  auto profile = co_await std::move(reading);
  if (!profile) throw Error::not_found("profile", reference);
  co_return ResolvedProfile{head->name, version, head->owner, std::move(profile)};
}

void ProfileResolver::changed(const std::optional<TenantId>& owner, std::string_view name) {
  topic_changed(profile_topic(owner, name));
}

void ProfileResolver::topic_changed(const std::string& topic) {
  // What the operator shares may be what any tenant means by the name.
  if (topic.empty() || topic.starts_with('/'))
    heads_.expire_all();
  else
    heads_.expire(topic);
}

}  // namespace sandgate
