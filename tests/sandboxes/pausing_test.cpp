#include "gateway/sandboxes/rows/pause_rows.hpp"
#include "tests/sandboxes/held_lock.hpp"
#include "tests/sandboxes/pausing_world.hpp"
#include "tests/support/eventually.hpp"

namespace sandgate::test {
namespace {

using Fault = FakeProvider::Fault;
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(PausingWorld, PausesAndResumesAndMetersWhatIsKept) {
  const SandboxRecord box = world.create();
  const SandboxRecord paused = pause(box);
  EXPECT_EQ(paused.state, SandboxState::paused);
  EXPECT_EQ(to_json(paused)["kept"], "disk") << "what survived, not what was asked for";
  EXPECT_EQ(world.a->state_of(box.backend_id), BackendState::paused);
  EXPECT_EQ(metered(box), "paused_disk");
  EXPECT_EQ(pause(box).state, SandboxState::paused) << "twice is once";

  const SandboxRecord resumed = resume(box);
  EXPECT_EQ(resumed.state, SandboxState::running);
  EXPECT_EQ(to_json(resumed)["kept"], "disk");
  EXPECT_EQ(world.a->state_of(box.backend_id), BackendState::running);
  EXPECT_EQ(metered(box), "running");
  EXPECT_FALSE(to_json(world.row(box.id)).contains("kept"));
  EXPECT_EQ(resume(box).state, SandboxState::running);
}

TEST_F(PausingWorld, KeptMemoryIsMeteredAndVcpusAreNot) {
  keep_memory();
  const SandboxRecord box = world.create();
  pause(box);
  EXPECT_EQ(metered(box), "paused_memory");
  run(world.replica.meter.flush(world.replica.database, seconds(0)));
  const auto sum = [&](const char* meter) {
    return world.sql("SELECT count(*) FROM usage_event WHERE meter = '" + std::string(meter) + "'");
  };
  const std::string before = sum("vcpu_second"), memory = sum("memory_gib_second");
  run(world.replica.meter.flush(world.replica.database, seconds(0)));
  EXPECT_EQ(sum("vcpu_second"), before);
  EXPECT_NE(sum("memory_gib_second"), memory);
}

TEST_F(PausingWorld, ARefusedPauseLeavesItRunning) {
  const SandboxRecord box = world.create();
  world.a->fail_states(Fault::error, ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { pause(box); }), ErrorCode::conflict);
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
  EXPECT_EQ(metered(box), "running");
  world.a->fail_states(Fault::none);
  pause(box);
  world.a->fail_states(Fault::error, ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { resume(box); }), ErrorCode::conflict);
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
}

TEST_F(PausingWorld, TheReaperFinishesWhatALostReplyLeft) {
  const SandboxRecord box = world.create();
  world.a->fail_states(Fault::lost_reply);
  EXPECT_EQ(code_of([&] { pause(box); }), ErrorCode::unavailable);
  EXPECT_EQ(world.row(box.id).state, SandboxState::pausing);
  world.a->fail_states(Fault::none);
  EXPECT_EQ(run(world.replica.reaper().finish_pausing()), 0u) << "not before a second";
  EXPECT_EQ(run(world.replica.reaper(milliseconds(1100)).finish_pausing()), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
  world.a->fail_states(Fault::lost_reply);
  EXPECT_EQ(code_of([&] { resume(box); }), ErrorCode::unavailable);
  EXPECT_EQ(run(world.replica.reaper(milliseconds(1100)).finish_pausing()), 1u) << "in vain";
  world.a->fail_states(Fault::none);
  EXPECT_EQ(run(world.replica.reaper(milliseconds(1100)).finish_pausing()), 0u) << "two seconds";
  EXPECT_EQ(run(world.replica.reaper(milliseconds(2100)).finish_pausing()), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
}

TEST_F(PausingWorld, ACrashBeforeTheBackendWasAskedIsFinishedToo) {
  const SandboxRecord box = world.create();
  auto write = [id = box.id](pqxx::work& tx) {
    sandbox_rows::set_pausing(tx, id, Keeps::disk, seconds(30));
  };
  run(world.database->run(std::move(write)));
  EXPECT_EQ(run(world.replica.reaper().finish_pausing()), 0u) << "its lease is not over";
  EXPECT_EQ(run(world.replica.reaper().recover_pausing()), 1u) << "who starts looks at all";
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
  EXPECT_EQ(world.a->state_of(box.backend_id), BackendState::paused);
}

struct PausingOutage : OwnCluster, PausingWorld {};

// A lease of 30 s is no reason to wait when whoever had it has given up.
TEST_F(PausingOutage, WhatTheDatabaseDidNotHearGoesOnWhenItIsBack) {
  const SandboxRecord box = world.create();
  const auto cut_off = [&](auto&& step, SandboxState wanted) {
    world.a->once_changed([] { TestDatabase::stop_cluster(); });
    EXPECT_EQ(code_of([&] { step(); }), ErrorCode::unavailable);
    TestDatabase::start_cluster();
    const auto limit = std::chrono::steady_clock::now() + seconds(10);
    const auto taken_up = [&] {
      const auto outcome = run(attempt(world.replica.reaper().finish_pausing()));
      const size_t* count = std::get_if<size_t>(&outcome);
      return count && *count == 1;
    };
    while (!taken_up() && std::chrono::steady_clock::now() < limit)
      run(sleep_for(milliseconds(50)));
    EXPECT_EQ(world.row(box.id).state, wanted);
  };
  cut_off([&] { pause(box); }, SandboxState::paused);
  EXPECT_EQ(metered(box), "paused_disk");
  cut_off([&] { resume(box); }, SandboxState::running);
  EXPECT_EQ(metered(box), "running");
}

TEST_F(PausingWorld, TheEndOfTimePausesWhereTheProfileSaysSo) {
  const SandboxRecord box = world.create([](Profile& p) {
    p.ttl_seconds = 60;
    p.on_expiry = EndAction::pause;
  });
  auto late = world.replica.reaper(seconds(100));
  EXPECT_EQ(run(late.expire()), 0u);
  EXPECT_EQ(run(late.pause_due()), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::paused);
  EXPECT_EQ(run(late.expire()), 0u) << "it waits";
  world.sql("UPDATE sandbox SET expires_at = now() - interval '1 hour' RETURNING id");
  EXPECT_GT(resume(box).expires_at, box.created_at + seconds(50)) << "its time begins again";
}

TEST_F(PausingWorld, APauseThatWaitedTooLongIsLeftAlone) {
  const SandboxRecord box = world.create([](Profile& p) {
    p.ttl_seconds = 60;
    p.on_expiry = EndAction::pause;
  });
  // The loop that the work queue runs on is busy: this one waits.
  std::promise<void> go_on;
  asio::post(world.replica.pool, [told = go_on.get_future().share()] { told.wait(); });
  Reaper reaper(world.replica.lifecycle, {.ahead = seconds(100)});
  EXPECT_EQ(run(reaper.pause_due()), 1u);
  // Another gateway paused it meanwhile, and its tenant resumed it.
  world.sql("UPDATE sandbox SET state = 'running', kept = NULL RETURNING id");
  go_on.set_value();
  run(reaper.drain());
  EXPECT_EQ(world.a->state_of(box.backend_id), BackendState::running);
  EXPECT_EQ(world.row(box.id).state, SandboxState::running);
}

// Else it would be frozen at its first step, and its caller would wait for nothing.
TEST_F(PausingWorld, WhatBeginsWhileAPauseIsWrittenWaitsForIt) {
  for (const bool auto_resume : {true, false}) {
    const SandboxRecord box = world.create([&](Profile& p) { p.auto_resume = auto_resume; });
    asio::thread_pool pool(2);
    HeldLock lock(world, "SELECT FROM sandbox WHERE id = '" + box.id.value + "' FOR UPDATE");
    auto pausing_it =
        asio::co_spawn(pool, pausing.pause(world.tenant, box.id, Keeps::memory), asio::use_future);
    EXPECT_TRUE(eventually([&] { return world.database.has_lock_waiter(); }));
    auto opening_it = asio::co_spawn(pool, opening(box), asio::use_future);
    EXPECT_EQ(opening_it.wait_for(milliseconds(200)), std::future_status::timeout);
    lock.release();
    const auto code = code_of([&] { opening_it.get(); });
    EXPECT_EQ(code, auto_resume ? std::nullopt : std::optional(ErrorCode::conflict));
    EXPECT_EQ(pausing_it.get().state, SandboxState::paused);
    EXPECT_EQ(world.a->state_of(box.backend_id),
              auto_resume ? BackendState::running : BackendState::paused);
    pool.join();
  }
}

TEST_F(PausingWorld, AResumeThatOthersWereFasterThanIsTriedAgain) {
  const SandboxRecord box = world.create();
  pause(box);
  asio::thread_pool pool(1);
  pqxx::connection other(world.database.url());
  pqxx::work taking(other);
  taking.exec_params("UPDATE sandbox SET state = 'resuming' WHERE id = $1", box.id.value);
  auto resuming_it = asio::co_spawn(pool, pausing.resume(world.tenant, box.id), asio::use_future);
  EXPECT_TRUE(eventually([&] { return world.database.has_lock_waiter(); }));
  taking.commit();
  run(sleep_for(milliseconds(100)));  // as long as the other one is at it
  world.sql("UPDATE sandbox SET state = 'paused' RETURNING id");
  const SandboxRecord resumed = resuming_it.get();
  EXPECT_EQ(resumed.state, SandboxState::running);
  EXPECT_EQ(to_json(resumed)["kept"], "disk");
  EXPECT_EQ(world.a->state_of(box.backend_id), BackendState::running);
  pool.join();
}

TEST_F(PausingWorld, WhatCannotBePausedWhenItsTimeIsOverEnds) {
  const SandboxRecord box = world.create([](Profile& p) {
    p.ttl_seconds = 60;
    p.on_expiry = EndAction::pause;
  });
  world.a->fail_states(Fault::error, ErrorCode::unsupported);
  run(world.replica.reaper(seconds(100)).pause_due());
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  EXPECT_EQ(world.a->alive(), 0u);
}

// Its disk is being copied, or the backend is busy: nothing of it may be lost for that.
TEST_F(PausingWorld, WhatCannotBePausedNowRunsOnAndIsPausedLater) {
  for (const bool expires : {true, false}) {
    for (const ErrorCode code : {ErrorCode::conflict, ErrorCode::rate_limited,
                                 ErrorCode::quota_exceeded, ErrorCode::no_capacity}) {
      const SandboxRecord box = world.create([&](Profile& p) {
        (expires ? p.ttl_seconds : p.idle_timeout_seconds) = kIdleTimeout.count();
        (expires ? p.on_expiry : p.on_idle) = EndAction::pause;
      });
      world.a->fail_states(Fault::error, code);
      EXPECT_EQ(run(world.replica.reaper(seconds(100)).pause_due()), 1u);
      EXPECT_EQ(world.row(box.id).state, SandboxState::running) << to_string(code);
      EXPECT_EQ(metered(box), "running");
      world.a->fail_states(Fault::none);
      EXPECT_EQ(run(world.replica.reaper(seconds(100)).pause_due()), 1u);
      EXPECT_EQ(world.row(box.id).state, SandboxState::paused) << to_string(code);
      EXPECT_EQ(metered(box), "paused_disk");
    }
  }
  EXPECT_EQ(times_paused(), "8");
  EXPECT_EQ(world.sql("SELECT count(*) FROM event_outbox WHERE type = 'sandbox.killed'"), "0");
}

TEST_F(PausingWorld, WhatIsRefusedForNowIsAskedForEverMoreSeldom) {
  const SandboxRecord box = world.create([](Profile& p) {
    p.ttl_seconds = 60;
    p.on_expiry = EndAction::pause;
  });
  world.sql("UPDATE sandbox SET expires_at = now() RETURNING id");
  const auto taken = [&](milliseconds ahead) {
    return run(world.replica.reaper(ahead).pause_due());
  };
  world.a->fail_states(Fault::error, ErrorCode::conflict);
  EXPECT_EQ(taken(milliseconds(0)), 1u);
  EXPECT_EQ(taken(milliseconds(0)), 0u) << "not before a second";
  EXPECT_EQ(taken(milliseconds(1100)), 1u);
  EXPECT_EQ(taken(milliseconds(1100)), 0u) << "two seconds";
  EXPECT_EQ(taken(milliseconds(2100)), 1u);
  world.a->fail_states(Fault::none);
  EXPECT_EQ(pause(box).state, SandboxState::paused) << "whoever asks for it is not put off";
  resume(box);
  world.sql("UPDATE sandbox SET expires_at = now() RETURNING id");
  EXPECT_EQ(taken(milliseconds(0)), 1u) << "nor is the next one";
}

TEST_F(PausingWorld, ACopyPutsOffTheEndOfTimeAndNotForEver) {
  const SandboxRecord box = world.create([](Profile& p) {
    p.ttl_seconds = 60;
    p.on_expiry = EndAction::pause;
  });
  world.a->fail_states(Fault::error, ErrorCode::conflict);
  const auto pause_since = [&](const std::string& due) {
    world.sql("UPDATE sandbox SET lease_until = now(), expires_at = now() - interval '" + due +
              "' RETURNING id");
    EXPECT_EQ(run(world.replica.reaper().pause_due()), 1u);
    return world.row(box.id).state;
  };
  EXPECT_EQ(pause_since("1 second"), SandboxState::running);
  EXPECT_EQ(pause_since("14 minutes"), SandboxState::running) << "copies take minutes";
  EXPECT_EQ(pause_since("16 minutes"), SandboxState::stopped);
}

TEST_F(PausingWorld, WhoDoesNotAnswerEndsASandboxWhoseTimeIsLongOver) {
  const SandboxRecord box = world.create([](Profile& p) {
    p.ttl_seconds = 60;
    p.on_expiry = EndAction::pause;
  });
  const auto age = [&](const std::string& past) {
    world.sql("UPDATE sandbox SET lease_until = now(), expires_at = now() - interval '" + past +
              "' RETURNING id");
  };
  // One that archives what is to be kept takes minutes, and answers late or not at all meanwhile.
  for (const ErrorCode code :
       {ErrorCode::timeout, ErrorCode::unavailable, ErrorCode::rate_limited}) {
    world.a->fail_states(Fault::error, code);
    age("14 minutes");
    auto reaper = world.replica.reaper();
    run(reaper.pause_due());
    run(reaper.finish_pausing());
    EXPECT_FALSE(is_ended(world.row(box.id).state)) << "it may yet";
    EXPECT_EQ(world.a->alive(), 1u);
  }
  age("16 minutes");
  auto reaper = world.replica.reaper();
  run(reaper.pause_due());
  run(reaper.finish_pausing());
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  EXPECT_EQ(world.a->alive(), 0u);
}

TEST_F(PausingWorld, TimeGoesOnForThePaused) {
  const SandboxRecord box = world.create([](Profile& p) { p.ttl_seconds = 60; });
  pause(box);
  EXPECT_EQ(run(world.replica.reaper(seconds(100)).expire()), 1u);
  EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
  EXPECT_EQ(metered(box), "closed");
}

TEST_F(PausingWorld, TimeGoesOnForThoseHalfPausedOrResumed) {
  for (const char* state : {"pausing", "resuming"}) {
    const SandboxRecord box = world.create([](Profile& p) { p.ttl_seconds = 60; });
    world.sql("UPDATE sandbox SET state = '" + std::string(state) + "' WHERE id = '" +
              box.id.value + "' RETURNING id");
    EXPECT_EQ(run(world.replica.reaper().expire()), 0u);
    EXPECT_EQ(run(world.replica.reaper(seconds(100)).expire()), 1u) << state;
    EXPECT_EQ(world.row(box.id).state, SandboxState::stopped);
    EXPECT_EQ(metered(box), "closed");
  }
  EXPECT_EQ(world.a->alive(), 0u);
}

TEST_F(PausingWorld, UseResumesOnlyWhereTheProfileSaysSo) {
  const SandboxRecord asleep = world.create();
  const SandboxRecord light = world.create([](Profile& p) { p.auto_resume = true; });
  pause(asleep);
  pause(light);
  CachedAccess access(world.replica.lifecycle, world.replica.activity);
  http::Caller caller{.role = http::Role::developer, .tenant = world.tenant};
  const auto open = [&](const SandboxRecord& box) {
    run(access.open(caller, box.id.value, Verb::exec));
  };
  EXPECT_EQ(code_of([&] { open(asleep); }), ErrorCode::conflict);
  http::Caller viewer{.role = http::Role::viewer, .tenant = world.tenant};
  http::Caller suspended{.role = http::Role::owner, .tenant = world.tenant, .suspended = true};
  for (const http::Caller& looking : {viewer, suspended}) {
    for (const Verb verb : {Verb::files, Verb::background}) {
      const auto look = [&] { run(access.open(looking, light.id.value, verb)); };
      EXPECT_EQ(code_of(look), ErrorCode::conflict) << to_string(verb);
    }
    EXPECT_EQ(world.row(light.id).state, SandboxState::paused);
  }
  EXPECT_EQ(code_of([&] { open(light); }), std::nullopt);
  EXPECT_EQ(world.row(light.id).state, SandboxState::running);
}

TEST_F(PausingWorld, ManyWhoWaitAskAsOne) {
  const SandboxRecord box = world.create();
  world.sql("UPDATE sandbox SET state = 'resuming' RETURNING id");
  world.replica.cache.invalidate(box.id);
  constexpr int kWaiting = 40;
  asio::thread_pool pool(2);
  std::vector<std::future<SandboxRecord>> all;
  for (int i = 0; i < kWaiting; ++i)
    all.push_back(asio::co_spawn(pool, pausing.resume(world.tenant, box.id), asio::use_future));
  const uint64_t before = world.replica.cache.misses();
  run(sleep_for(milliseconds(500)));
  EXPECT_LT(world.replica.cache.misses() - before, 25u + 2 * kWaiting);
  world.sql("UPDATE sandbox SET state = 'running' RETURNING id");
  for (auto& one : all) EXPECT_EQ(one.get().state, SandboxState::running);
  pool.join();
}

TEST_F(PausingWorld, ManyAtOnceAgree) {
  const SandboxRecord box = world.create();
  asio::thread_pool pool(4);
  std::vector<std::future<SandboxRecord>> all;
  for (int i = 0; i < 12; ++i) {
    auto work = [this, &box, i]() -> Task<SandboxRecord> {
      return i % 2 == 0 ? pausing.pause(world.tenant, box.id, Keeps::memory)
                        : pausing.resume(world.tenant, box.id);
    };
    all.push_back(asio::co_spawn(pool, work, asio::use_future));
  }
  for (auto& one : all) {
    try {
      one.get();
    } catch (const Error& error) {
      EXPECT_EQ(error.code, ErrorCode::conflict);
    }
  }
  const SandboxState state = world.row(box.id).state;
  EXPECT_TRUE(is_settled(state));
  const bool paused = world.a->state_of(box.backend_id) == BackendState::paused;
  EXPECT_EQ(paused, state == SandboxState::paused);
  EXPECT_EQ(metered(box), paused ? "paused_disk" : "running");
}

TEST_F(PausingWorld, ForeignAndEndedOnesAreRefused) {
  const SandboxRecord box = world.create();
  const auto foreign = [&] { run(pausing.pause(TenantId::make(), box.id, Keeps::memory)); };
  EXPECT_EQ(code_of(foreign), ErrorCode::not_found);
  run(world.replica.lifecycle.kill(world.tenant, box.id));
  EXPECT_EQ(code_of([&] { pause(box); }), ErrorCode::conflict);
  EXPECT_EQ(code_of([&] { resume(box); }), ErrorCode::conflict);
}

TEST_F(PausingWorld, ALostSandboxFails) {
  const SandboxRecord box = world.create();
  world.a->lose(box.backend_id);
  EXPECT_EQ(code_of([&] { pause(box); }), ErrorCode::conflict);
  EXPECT_EQ(world.row(box.id).state, SandboxState::failed);
}

}  // namespace
}  // namespace sandgate::test
