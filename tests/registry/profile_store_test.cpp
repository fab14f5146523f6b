#include "registry/profile_store.hpp"

#include <set>
#include <thread>

#include "registry/document_diff.hpp"
#include "tests/registry/registry_fixture.hpp"

namespace sandgate {
namespace {

using test::code_of;
using test::kActor;
using test::run;

Profile profile_with(int64_t ttl, const std::string& name = "python") {
  return parse_profile(Json{{"name", name}, {"ttl_seconds", ttl}});
}

struct ProfileStoreTest : testing::Test {
  Published publish(int64_t ttl, std::optional<TenantId> owner = std::nullopt,
                    std::string channel = "stable") {
    return run(store.publish(owner, profile_with(ttl), std::move(channel), kActor));
  }
  int64_t resolved(const std::string& reference, const std::string& stickiness = "s") {
    return run(resolver.resolve(tenant, reference, stickiness)).version;
  }
  std::optional<ErrorCode> refusal(const std::string& reference) {
    return code_of(resolver.resolve(tenant, reference, ""));
  }

  test::TestDatabase database;
  TenantStore tenants{*database};
  ProfileStore store{*database};
  Notifications notifications{database.url()};
  ProfileResolver resolver{store, notifications};
  TenantId tenant = run(tenants.create("acme", kActor)).id;
};

TEST(DocumentDiff, NamesEachPlaceThatDiffers) {
  const auto found = diff(Json::parse(R"({"a":1,"b":{"c":[1],"d":2},"e/f":null})"),
                          Json::parse(R"({"a":1,"b":{"c":[1,2]},"g":{"h":1}})"));
  EXPECT_EQ(found, (std::vector<Difference>{
                       {"/b/c", {1}, {1, 2}}, {"/b/d", 2, nullptr}, {"/g", nullptr, {{"h", 1}}}}));
  EXPECT_TRUE(diff(Json{{"vcpu", 1}}, Json{{"vcpu", 1.0}}).empty());
}

TEST(ProfileChannel, CanaryIsStickyAndGrows) {
  EXPECT_EQ(choose_version({.version = 1}, "x"), 1);
  int canaries = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string session = "session-" + std::to_string(i);
    const auto at = [&](int64_t percent) {
      return choose_version({.version = 1, .canary = Canary{2, percent}}, session);
    };
    EXPECT_EQ(at(0), 1);
    EXPECT_EQ(at(100), 2);
    EXPECT_EQ(at(10), at(10));
    if (at(10) == 2) {
      EXPECT_EQ(at(20), 2);
      ++canaries;
    }
  }
  EXPECT_GT(canaries, 850);
  EXPECT_LT(canaries, 1150);
}

TEST(ProfileChannel, AShadowIsStickyAndDrawnApartFromTheCanary) {
  EXPECT_FALSE(choose_shadow({.version = 1}, "x"));
  int both = 0, shadows = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::string session = "session-" + std::to_string(i);
    const ProfileChannel channel{.version = 1, .canary = Canary{2, 10}, .shadow = Shadow{3, 10}};
    const auto shadow = choose_shadow(channel, session);
    EXPECT_EQ(shadow, choose_shadow(channel, session));
    if (!shadow) continue;
    EXPECT_EQ(shadow, 3);
    ++shadows;
    if (choose_version(channel, session) == 2) ++both;
  }
  EXPECT_NEAR(shadows, 1000, 150);
  EXPECT_NEAR(both, 100, 50);
}

TEST(ProfileReference, HasThreeForms) {
  EXPECT_EQ(profile_reference_from("a")->channel, "stable");
  EXPECT_EQ(profile_reference_from("a@3")->version, 3);
  EXPECT_EQ(profile_reference_from("a@beta")->channel, "beta");
  for (const char* text : {"", "@", "a@", "a@0", "a@-1", "a@1x", "a@none", "A", "a@b@c", "a b",
                           "a@99999999999999999999", "a@01"})
    EXPECT_FALSE(profile_reference_from(text)) << text;
}

TEST_F(ProfileStoreTest, ATenantHasSoManyAndEachSoManyVersions) {
  publish(60, tenant);
  auto fill = [this](pqxx::work& tx) {
    tx.exec_params(
        "INSERT INTO profile (tenant, name, latest) SELECT $1, 'p' || n, 1"
        " FROM generate_series(2, $2) AS n",
        tenant.value, ProfileStore::kMaxPerTenant);
    tx.exec_params("UPDATE profile SET latest = $2 WHERE tenant = $1 AND name = 'python'",
                   tenant.value, ProfileStore::kMaxVersions - 1);
  };
  run(database->run(fill));
  const auto refused = [this](int64_t ttl, const char* name) {
    return code_of(store.publish(tenant, profile_with(ttl, name), "", kActor));
  };
  EXPECT_EQ(refused(60, "more"), ErrorCode::quota_exceeded);
  EXPECT_EQ(refused(61, "python"), std::nullopt);
  EXPECT_EQ(refused(62, "python"), ErrorCode::quota_exceeded);
  EXPECT_EQ(refused(61, "python"), std::nullopt) << "the same again makes no version";
  publish(60);  // the operator's own are not counted
}

TEST_F(ProfileStoreTest, AProfileHasSoManyChannels) {
  publish(60, tenant);
  auto fill = [](pqxx::work& tx) {
    tx.exec_params(
        "INSERT INTO profile_channel (profile, channel, version) SELECT id, 'c' || n, 1"
        " FROM profile, generate_series(2, $1) AS n",
        ProfileStore::kMaxChannels - 1);
  };
  run(database->run(fill));
  const auto refused = [this](const char* channel) {
    return code_of(store.set_channel(tenant, "python", channel, {.version = 1}, kActor));
  };
  EXPECT_EQ(refused("last"), std::nullopt);
  EXPECT_EQ(refused("more"), ErrorCode::quota_exceeded);
  EXPECT_EQ(refused("last"), std::nullopt) << "it is there and only moves";
  const auto published = [this](int64_t ttl, const char* channel) {
    return code_of(store.publish(tenant, profile_with(ttl), channel, kActor));
  };
  EXPECT_EQ(published(61, "more"), ErrorCode::quota_exceeded);
  EXPECT_EQ(published(61, ""), std::nullopt);
  EXPECT_EQ(published(62, "stable"), std::nullopt);
  EXPECT_EQ(run(store.find(tenant, "python"))->latest, 3) << "what was refused left no version";
  run(store.archive(tenant, "python", kActor));
  EXPECT_EQ(published(63, "more"), std::nullopt) << "the archived one forgot them";
}

TEST_F(ProfileStoreTest, PublishesVersionsAndNoticesWhatIsUnchanged) {
  const Published first = publish(60);
  EXPECT_TRUE(first.changed);
  EXPECT_EQ(first.version.version, 1);
  const Published again = publish(60);
  EXPECT_FALSE(again.changed);
  EXPECT_EQ(again.version.version, 1);
  EXPECT_EQ(again.version.created_at, first.version.created_at);
  EXPECT_EQ(publish(61).version.version, 2);
  EXPECT_EQ(publish(60).version.version, 3);
  const auto head = run(store.find(std::nullopt, "python"));
  EXPECT_EQ(head->latest, 3);
  EXPECT_EQ(run(store.versions(head->id, std::nullopt, 2)).size(), 2u);
  EXPECT_EQ(run(store.versions(head->id, 2, 9)).at(0).version, 1);
}

TEST_F(ProfileStoreTest, AfterARollbackWhatIsInForceIsUnchanged) {
  publish(60);
  publish(61);
  run(store.set_channel(std::nullopt, "python", std::string(kStable), {.version = 1}, kActor));
  const Published same = publish(60);
  EXPECT_FALSE(same.changed);
  EXPECT_EQ(same.version.version, 1);
  const Published newest = publish(61);
  EXPECT_FALSE(newest.changed);
  EXPECT_EQ(newest.version.version, 2);
  EXPECT_EQ(run(store.find(std::nullopt, "python"))->channels.at(std::string(kStable)).version, 2);
  EXPECT_EQ(publish(60).version.version, 3) << "an older one that is in force nowhere";
}

TEST_F(ProfileStoreTest, VersionsCannotBeRewritten) {
  publish(60);
  for (const auto* sql : {"UPDATE profile_version SET document = '{}'",
                          "DELETE FROM profile_version", "TRUNCATE profile_version CASCADE"})
    EXPECT_NE(test::sql_refusal(database, sql), "") << sql;
}

TEST_F(ProfileStoreTest, ConcurrentPublishersGetDistinctVersions) {
  constexpr int kThreads = 4, kEach = 5;
  std::mutex mutex;
  std::multiset<int64_t> versions;
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        const int64_t version = publish(100 + t * kEach + i).version.version;
        std::lock_guard lock(mutex);
        versions.insert(version);
      }
    });
  threads.clear();
  EXPECT_EQ(versions.size(), size_t{kThreads * kEach});
  EXPECT_EQ(std::set(versions.begin(), versions.end()).size(), versions.size());
  EXPECT_EQ(*versions.rbegin(), kThreads * kEach);
}

TEST_F(ProfileStoreTest, ChannelsMoveAndRollBack) {
  publish(60);
  publish(61, std::nullopt, "");
  publish(62, std::nullopt, "beta");
  EXPECT_EQ(resolved("python"), 1);
  EXPECT_EQ(resolved("python@beta"), 3);
  EXPECT_EQ(resolved("python@2"), 2);
  EXPECT_EQ(refusal("python@4"), ErrorCode::not_found);
  EXPECT_EQ(refusal("python@gamma"), ErrorCode::not_found);
  EXPECT_EQ(refusal("ruby"), ErrorCode::not_found);
  EXPECT_EQ(refusal("py thon"), ErrorCode::invalid);
  run(store.set_channel(std::nullopt, "python", "stable",
                        {.version = 1, .canary = Canary{.version = 3, .percent = 100}}, kActor));
  resolver.changed(std::nullopt, "python");
  EXPECT_EQ(resolved("python"), 3);
  run(store.set_channel(std::nullopt, "python", "stable",
                        {.version = 1, .shadow = Shadow{.version = 2, .percent = 100}}, kActor));
  resolver.changed(std::nullopt, "python");
  const ResolvedProfile shadowed = run(resolver.resolve(tenant, "python", "s"));
  EXPECT_EQ(shadowed.version, 1);
  EXPECT_EQ(shadowed.shadow_version, 2);
  ASSERT_TRUE(shadowed.shadow);
  EXPECT_EQ(shadowed.shadow->ttl_seconds, 61);
  EXPECT_FALSE(run(resolver.resolve(tenant, "python@1", "s")).shadow);
  const ProfileChannel strange{.version = 1, .shadow = Shadow{.version = 9, .percent = 1}};
  EXPECT_EQ(code_of(store.set_channel(std::nullopt, "python", "stable", strange, kActor)),
            ErrorCode::invalid);
  publish(63);
  resolver.changed(std::nullopt, "python");
  EXPECT_FALSE(run(resolver.resolve(tenant, "python", "s")).shadow) << "publishing ends it";
  EXPECT_EQ(resolved("python"), 4);
  const ProfileChannel beyond{.version = 9};
  EXPECT_EQ(code_of(store.set_channel(std::nullopt, "python", "stable", beyond, kActor)),
            ErrorCode::invalid);
}

TEST_F(ProfileStoreTest, WhatIsSharedIsNotATenantsToChange) {
  publish(60);
  EXPECT_EQ(code_of(store.set_channel(tenant, "python", "stable", {.version = 1}, kActor)),
            ErrorCode::not_found);
  EXPECT_EQ(code_of(store.archive(tenant, "python", kActor)), ErrorCode::not_found);
  EXPECT_EQ(code_of(store.archive(tenant, "ruby", kActor)), ErrorCode::not_found);
  run(store.archive(std::nullopt, "python", kActor));
  EXPECT_EQ(code_of(store.archive(tenant, "python", kActor)), ErrorCode::not_found);
}

TEST_F(ProfileStoreTest, ATenantsOwnProfileWins) {
  publish(60);
  EXPECT_FALSE(run(resolver.resolve(tenant, "python", "")).owner);
  publish(70, tenant);
  resolver.changed(tenant, "python");
  const ResolvedProfile own = run(resolver.resolve(tenant, "python", ""));
  EXPECT_EQ(own.owner, tenant);
  EXPECT_EQ(own.profile->ttl_seconds, 70);
  const TenantId other = run(tenants.create("other", kActor)).id;
  EXPECT_EQ(run(resolver.resolve(other, "python", "")).profile->ttl_seconds, 60);
  EXPECT_EQ(run(store.list(tenant, "", 10)).size(), 1u);
  EXPECT_EQ(run(store.list(tenant, "", 10))[0].owner, tenant);
}

TEST_F(ProfileStoreTest, TheVersionInForceDescribesTheProfile) {
  const auto describe = [&](const std::string& text, const std::string& channel) {
    Profile profile = profile_with(60);
    profile.description = text;
    run(store.publish(std::nullopt, profile, channel, kActor));
  };
  const auto listed = [&] { return run(store.list(tenant, "", 10)).at(0).description; };
  describe("first", "next");
  EXPECT_EQ(listed(), std::nullopt) << "none is in force";
  describe("second", "stable");
  EXPECT_EQ(listed(), "second");
  const auto moved =
      run(store.set_channel(std::nullopt, "python", "stable", {.version = 1}, kActor));
  EXPECT_EQ(moved.description, "first");
  EXPECT_EQ(listed(), "first");
}

TEST_F(ProfileStoreTest, ArchivingKeepsHistoryAndNumbers) {
  publish(60);
  run(store.archive(std::nullopt, "python", kActor));
  EXPECT_EQ(refusal("python"), ErrorCode::not_found);
  EXPECT_EQ(refusal("python@1"), ErrorCode::not_found);
  EXPECT_EQ(code_of(store.archive(std::nullopt, "python", kActor)), ErrorCode::not_found);
  EXPECT_TRUE(run(store.list(std::nullopt, "", 10)).empty());
  EXPECT_EQ(publish(61).version.version, 2);
  resolver.changed(std::nullopt, "python");
  EXPECT_EQ(resolved("python@1"), 1);
}

TEST_F(ProfileStoreTest, WhatWasInForceBeforeItWasArchivedIsNotAgain) {
  publish(60);
  publish(61);
  const ProfileChannel canary{.version = 1, .canary = Canary{2, 50}};
  for (const char* channel : {"stable", "beta"})
    run(store.set_channel(std::nullopt, "python", channel, canary, kActor));
  run(store.archive(std::nullopt, "python", kActor));
  EXPECT_EQ(run(store.find_with_archived(tenant, "python"))->channels.size(), 2u) << "history";
  run(store.publish(std::nullopt, profile_with(62), "next", kActor));
  resolver.changed(std::nullopt, "python");
  EXPECT_EQ(refusal("python"), ErrorCode::not_found);
  EXPECT_EQ(refusal("python@beta"), ErrorCode::not_found);
  EXPECT_EQ(resolved("python@next"), 3);
  publish(63);
  resolver.changed(std::nullopt, "python");
  EXPECT_EQ(resolved("python"), 4);
}

TEST_F(ProfileStoreTest, AnotherReplicaLearnsOfAPublish) {
  publish(60);
  EXPECT_EQ(resolved("python"), 1);
  notifications.start();
  ProfileStore elsewhere(*database);
  run(elsewhere.publish(std::nullopt, profile_with(61), "stable", kActor));
  test::wait_until([&] { return resolved("python") == 2; });
}

}  // namespace
}  // namespace sandgate
