#include "gateway/http/authentication.hpp"

#include "gateway/http/tenant_admission.hpp"
#include "tests/registry/registry_fixture.hpp"

namespace sandgate::http {
namespace {

using namespace std::chrono_literals;
using test::code_of;
using test::kActor;
using test::run;

struct FakeClock : Clock {
  Time now() const override { return SystemClock().now() + ahead; }
  std::chrono::seconds ahead{0};
};

// One gateway: its own connections, caches and listener.
struct Replica {
  explicit Replica(const std::string& url, const Clock& clock)
      : database({.url = url, .connections = 2}),
        notifications(url),
        authenticator(keys, directory, clock, Secret("an operator's words"), notifications,
                      {.soft = 1h, .hard = 1h}) {
    notifications.start();
  }
  ~Replica() { notifications.stop(); }
  Caller caller(const std::string& secret, const char* tenant = nullptr) {
    Request request;
    request.headers.add("Authorization", "Bearer " + secret);
    if (tenant) request.headers.add("X-Sandgate-Tenant", tenant);
    return run(authenticator.authenticate(request));
  }
  ErrorCode refusal(const std::string& secret, const char* tenant = nullptr) {
    try {
      caller(secret, tenant);
    } catch (const Error& error) {
      return error.code;
    }
    return ErrorCode::internal;
  }
  bool accepts(const std::string& secret) {
    try {
      caller(secret);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  Database database;
  Notifications notifications;
  KeyStore keys{database};
  TenantStore tenants{database};
  TenantDirectory directory{tenants, notifications};
  KeyAuthenticator authenticator;
};

struct AuthenticationTest : testing::Test {
  std::string new_secret(Role role = Role::developer, std::optional<Time> end = std::nullopt) {
    const NewApiKey made = run(here.keys.create(tenant, "k", role, end, kActor));
    last_key = made.key.id;
    return made.secret.reveal();
  }
  test::TestDatabase database;
  FakeClock clock;
  Replica here{database.url(), clock}, there{database.url(), clock};
  TenantId tenant = run(here.tenants.create("acme", kActor)).id;
  KeyId last_key;
};

TEST_F(AuthenticationTest, KnowsKeysInBothSpellingsAndHeaders) {
  const std::string secret = new_secret(Role::billing);
  const Caller caller = here.caller(secret);
  EXPECT_EQ(caller.role, Role::billing);
  EXPECT_EQ(caller.tenant, tenant);
  EXPECT_EQ(caller.key_id, last_key.value);
  EXPECT_EQ(here.caller("e2b_" + secret.substr(3)).key_id, last_key.value);
  Request request;
  request.headers.add("x-api-key", secret);
  EXPECT_EQ(run(here.authenticator.authenticate(request)).key_id, last_key.value);
  EXPECT_EQ(code_of(here.authenticator.authenticate(Request{})), ErrorCode::unauthenticated);
  for (const std::string& wrong : {std::string("sg_"), std::string("x"), std::string(1000, 'a'),
                                   "sg_" + std::string(40, '0'), secret + "0"})
    EXPECT_EQ(here.refusal(wrong), ErrorCode::unauthenticated) << wrong;
}

TEST_F(AuthenticationTest, TwoHeadersMustAgree) {
  const std::string secret = new_secret(), other = new_secret();
  const auto code = [&](const std::string& bearer, const std::string& key) {
    Request request;
    request.headers.add("Authorization", "Bearer " + bearer);
    request.headers.add("X-API-Key", key);
    return code_of(here.authenticator.authenticate(request));
  };
  for (const std::string& same : {secret, "e2b_" + secret.substr(3), std::string()})
    EXPECT_FALSE(code(secret, same)) << same;
  EXPECT_FALSE(code("an operator's words", "an operator's words"));
  for (const std::string& different : {other, std::string("x")}) {
    EXPECT_EQ(code(secret, different), ErrorCode::unauthenticated) << different;
    EXPECT_EQ(code(different, secret), ErrorCode::unauthenticated) << different;
  }
}

TEST_F(AuthenticationTest, RevocationReachesEveryReplicaWithinASecond) {
  // A busy machine may leave whoever listens without a turn for as long.
  auto soonest = std::chrono::steady_clock::duration::max();
  for (int tries = 0; tries < 5 && soonest >= 1s; ++tries) {
    const std::string secret = new_secret();
    ASSERT_TRUE(here.accepts(secret) && there.accepts(secret));
    run(here.keys.revoke(last_key, kActor));
    EXPECT_FALSE(here.accepts(secret));
    const auto begin = std::chrono::steady_clock::now();
    test::wait_until([&] { return !there.accepts(secret); });
    soonest = std::min(soonest, std::chrono::steady_clock::now() - begin);
  }
  EXPECT_LT(soonest, 1s);
}

TEST_F(AuthenticationTest, SuspensionReachesEveryReplica) {
  const std::string secret = new_secret();
  EXPECT_FALSE(there.caller(secret).suspended);
  run(here.tenants.change(tenant, {.suspended = true}, kActor));
  EXPECT_TRUE(here.caller(secret).suspended);
  test::wait_until([&] { return there.caller(secret).suspended; });
}

TEST_F(AuthenticationTest, LooksAtExpiryAndGraceOnEveryUse) {
  const std::string secret = new_secret(Role::viewer, SystemClock().now() + 60s);
  EXPECT_TRUE(here.accepts(secret));
  clock.ahead = 61s;
  EXPECT_FALSE(here.accepts(secret));
  clock.ahead = 0s;
  const std::string old = new_secret();
  const std::string next = run(here.keys.rotate(last_key, 30s, kActor)).secret.reveal();
  EXPECT_TRUE(here.accepts(old) && here.accepts(next));
  clock.ahead = 31s;
  EXPECT_FALSE(here.accepts(old));
  EXPECT_TRUE(here.accepts(next));
}

TEST_F(AuthenticationTest, OnlyAnOperatorActsForOthers) {
  const TenantId other = run(here.tenants.create("other", kActor)).id;
  const std::string secret = new_secret(Role::owner);
  EXPECT_EQ(here.caller(secret, tenant.value.c_str()).tenant, tenant);
  EXPECT_EQ(here.refusal(secret, other.value.c_str()), ErrorCode::not_found);
  const std::string words = "an operator's words";
  EXPECT_TRUE(here.caller(words).is_operator());
  EXPECT_FALSE(here.caller(words).tenant);
  EXPECT_EQ(here.caller(words, other.value.c_str()).tenant, other);
  EXPECT_EQ(here.refusal(words, TenantId::make().value.c_str()), ErrorCode::not_found);
  EXPECT_EQ(here.refusal(words, "no id"), ErrorCode::not_found);
  EXPECT_EQ(here.refusal("an operator's word"), ErrorCode::unauthenticated);
}

struct AuthenticationOutage : test::OwnCluster, AuthenticationTest {};

TEST_F(AuthenticationOutage, KnownKeysOutliveTheDatabase) {
  const std::string known = new_secret(), unknown = new_secret();
  // The notification of its creation may come after its first use, and is a reason to ask again.
  bool outlives = false;
  for (int tries = 0; tries < 3 && !outlives; ++tries) {
    if (tries > 0) test::TestDatabase::start_cluster();
    test::wait_until([&] { return here.accepts(known); });
    test::TestDatabase::stop_cluster();
    outlives = here.accepts(known);
  }
  EXPECT_TRUE(outlives);
  EXPECT_EQ(here.refusal(unknown), ErrorCode::unavailable);
  test::TestDatabase::start_cluster();
  test::wait_until([&] { return here.accepts(unknown); });
}

TEST_F(AuthenticationTest, HoldsTenantsToTheirRate) {
  std::chrono::steady_clock::time_point now{};
  TenantAdmission admission(here.directory, {}, [&] { return now; });
  const Route read{.method = Method::get, .pattern = "/", .permission = Permission::read};
  const Caller caller = here.caller(new_secret());
  for (int i = 0; i < 100; ++i) admission.admit(caller, read);
  run(here.tenants.set_limits(tenant, {.requests_per_second = 2}, kActor));
  run(here.directory.find(tenant));
  admission.admit(caller, read);
  admission.admit(caller, read);
  try {
    admission.admit(caller, read);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::rate_limited);
    EXPECT_EQ(error.retry_after, 500ms);
  }
  now += 500ms;
  admission.admit(caller, read);
  EXPECT_THROW(admission.admit(caller, read), Error);
}

// Whether somebody of a suspended tenant is refused this route.
bool refuses(TenantAdmission& admission, const Caller& caller, const Route& route) {
  try {
    admission.admit(caller, route);
    return false;
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ErrorCode::forbidden);
    EXPECT_STREQ(error.what(), "this tenant is suspended: it may only read and delete");
    return true;
  }
}

bool refuses(TenantAdmission& admission, const Caller& caller, Permission permission, Method method,
             const char* pattern) {
  return refuses(admission, caller,
                 {.method = method, .pattern = pattern, .permission = permission});
}

TEST_F(AuthenticationTest, SuspendedTenantsLookAndDelete) {
  TenantAdmission admission(here.directory);
  Caller caller = here.caller(new_secret());
  caller.suspended = true;
  const auto refused = [&](Method method, const char* pattern) {
    return refuses(admission, caller, Permission::use_sandboxes, method, pattern);
  };
  EXPECT_TRUE(refused(Method::post, "/v1/sandboxes"));
  EXPECT_TRUE(refuses(admission, caller,
                      {.method = Method::get,
                       .pattern = "/v1/sandboxes/{id}/terminal",
                       .permission = Permission::use_sandboxes,
                       .starts_work = true}));
  EXPECT_FALSE(refused(Method::delete_, "/v1/sandboxes/{id}"));
  EXPECT_FALSE(refused(Method::get, "/v1/sandboxes/{id}/files"));
}

TEST_F(AuthenticationTest, SuspendedTenantsMakeNothingElseEither) {
  TenantAdmission admission(here.directory);
  Caller caller = here.caller(new_secret());
  caller.suspended = true;
  for (const Permission permission : {Permission::write_profiles, Permission::write_secrets,
                                      Permission::administer_tenant, Permission::write_billing}) {
    for (const Method method : {Method::post, Method::put, Method::patch})
      EXPECT_TRUE(refuses(admission, caller, permission, method, "/v1/things/{name}"));
    EXPECT_FALSE(refuses(admission, caller, permission, Method::get, "/v1/things"));
    EXPECT_FALSE(refuses(admission, caller, permission, Method::delete_, "/v1/things/{name}"));
  }
  for (const Permission permission :
       {Permission::read, Permission::read_sandboxes, Permission::read_billing})
    EXPECT_FALSE(refuses(admission, caller, permission, Method::post, "/v1/questions"));
  // Who acts for it goes on.
  caller.role = Role::operator_;
  EXPECT_FALSE(refuses(admission, caller, Permission::administer_tenant, Method::post, "/v1/keys"));
}

TEST_F(AuthenticationTest, CountsStreamsWhileTheyLast) {
  TenantAdmission admission(here.directory, {.max_streams = 1});
  const Caller caller = here.caller(new_secret());
  auto stream = admission.open_stream(caller);
  ASSERT_TRUE(stream);
  EXPECT_THROW(admission.open_stream(caller), Error);
  stream.reset();
  EXPECT_TRUE(admission.open_stream(caller));
}

// So that the others find room there.
TEST_F(AuthenticationTest, ATenantLetsOthersPassWhileManyWaitForTheDatabase) {
  bool crowded = false;
  TenantAdmission admission(here.directory,
                            {.is_crowded = [&] { return crowded; }, .crowded_share = 2});
  const Caller caller = here.caller(new_secret());
  Caller other = caller;
  other.tenant = TenantId::make();
  std::vector<std::shared_ptr<void>> held;
  const auto begins = [&](const Caller& who, Requester requester = Requester::caller) {
    try {
      held.push_back(admission.hold_connection(who, requester));
      return true;
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::rate_limited);
      EXPECT_TRUE(error.retry_after);
      return false;
    }
  };
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(begins(caller)) << "nobody waits";
  crowded = true;
  EXPECT_FALSE(begins(caller));
  EXPECT_TRUE(begins(caller, Requester::visitor)) << "who visits a port needs no database";
  EXPECT_TRUE(begins(other));
  held.resize(2);
  EXPECT_FALSE(begins(caller));
  const auto stream = admission.open_stream(caller);
  EXPECT_TRUE(begins(caller)) << "one of its requests is a stream";
  held.resize(1);
  EXPECT_TRUE(begins(caller));
  crowded = false;
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(begins(caller));
}

}  // namespace
}  // namespace sandgate::http
