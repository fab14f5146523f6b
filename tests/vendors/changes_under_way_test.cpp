#include <gtest/gtest.h>

#include "providers/daytona/daytona.hpp"
#include "providers/e2b/e2b.hpp"
#include "providers/opensandbox/opensandbox.hpp"
#include "providers/runloop/runloop.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"

// A pause or resume is asked for again while the vendor is at work on an earlier request, whose
// answer was lost or came too late. The vendor refuses the second one. To take that for a failure
// would leave a sandbox that counts as running and is paused.
namespace sandgate::test {
namespace {

class ChangesUnderWay : public testing::Test {
 protected:
  template <class Adapter, class Settings>
  std::shared_ptr<Adapter> make(Settings settings) {
    return std::make_shared<Adapter>(client_, loop_.executor(), std::move(settings));
  }
  Outcome<Keeps> pause(Provider& provider, std::deque<HttpReply> replies) {
    client_.script(std::move(replies));
    return loop_.run(attempt(provider.pause("b1", Keeps::disk)));
  }
  bool resumes(Provider& provider, std::deque<HttpReply> replies) {
    client_.script(std::move(replies));
    const auto outcome = loop_.run(attempt(provider.resume("b1")));
    return !std::holds_alternative<Error>(outcome);
  }

  LiveLoop loop_;
  ScriptedClient client_;
};

HttpReply found(const Json& document) { return {200, {}, document.dump()}; }
HttpReply refused(int status) { return {status, {}, "{}"}; }

HttpReply daytona_is(const char* state) { return found({{"id", "b1"}, {"state", state}}); }
HttpReply runloop_is(const char* state) { return found({{"id", "b1"}, {"status", state}}); }
HttpReply opensandbox_is(const char* state) {
  return found({{"id", "b1"}, {"status", {{"state", state}}}});
}
HttpReply e2b_is(const char* state) { return found({{"sandboxID", "b1"}, {"state", state}}); }

TEST_F(ChangesUnderWay, AStopOfDaytonaIsWaitedFor) {
  const auto provider = make<DaytonaProvider>(DaytonaSettings{});
  const auto stopping = daytona_is("stopping");
  const auto kept = pause(
      *provider, {daytona_is("started"), refused(400), stopping, stopping, daytona_is("stopped")});
  EXPECT_EQ(std::get<Keeps>(kept), Keeps::disk);
  EXPECT_TRUE(resumes(*provider, {daytona_is("stopped"), refused(400), daytona_is("starting"),
                                  daytona_is("started")}));
  const auto runs_on =
      pause(*provider, {daytona_is("started"), refused(400), daytona_is("started")});
  EXPECT_TRUE(std::holds_alternative<Error>(runs_on));
}

TEST_F(ChangesUnderWay, ASuspendOfRunloopIsWaitedFor) {
  const auto provider = make<RunloopProvider>(RunloopSettings{});
  const auto suspending = runloop_is("suspending");
  const auto kept = pause(*provider, {runloop_is("running"), refused(400), suspending, suspending,
                                      runloop_is("suspended")});
  EXPECT_EQ(std::get<Keeps>(kept), Keeps::disk);
  EXPECT_TRUE(resumes(*provider, {runloop_is("suspended"), refused(400), runloop_is("resuming"),
                                  runloop_is("running")}));
  const auto runs_on =
      pause(*provider, {runloop_is("running"), refused(400), runloop_is("running")});
  EXPECT_TRUE(std::holds_alternative<Error>(runs_on));
}

TEST_F(ChangesUnderWay, APauseOfOpenSandboxIsWaitedFor) {
  const auto provider = make<OpenSandboxProvider>(OpenSandboxSettings{});
  const auto pausing = opensandbox_is("Pausing");
  const auto kept =
      pause(*provider, {pausing, refused(409), pausing, pausing, opensandbox_is("Paused")});
  EXPECT_EQ(std::get<Keeps>(kept), Keeps::memory);
  EXPECT_TRUE(resumes(*provider, {opensandbox_is("Paused"), refused(409),
                                  opensandbox_is("Resuming"), opensandbox_is("Running")}));
  const auto runs_on =
      pause(*provider, {opensandbox_is("Running"), refused(409), opensandbox_is("Running")});
  EXPECT_TRUE(std::holds_alternative<Error>(runs_on));
}

TEST_F(ChangesUnderWay, APauseOfE2bIsWaitedFor) {
  const auto provider = make<E2bProvider>(E2bSettings{});
  const auto kept = pause(*provider, {refused(409), e2b_is("running"), e2b_is("paused")});
  EXPECT_EQ(std::get<Keeps>(kept), Keeps::disk);
}

}  // namespace
}  // namespace sandgate::test
