#include <gtest/gtest.h>

#include "gateway/core/ids.hpp"
#include "gateway/core/settle.hpp"
#include "providers/catalog.hpp"
#include "providers/kubernetes/kubernetes.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/support/scripted_client.hpp"
#include "tests/vendors/vendor_lines.hpp"

// What a deployment's settings make of a Kubernetes cluster, beyond the suites of all vendors,
// which run with Sandbox resources and version 5 of exec.
namespace sandgate::test {
namespace {

Json pod_settings(const std::string& url) {
  return {{"api_url", url},
          {"sandboxes", "pods"},
          {"runtime_class", "gvisor"},
          {"isolation", {{"gvisor", "kernel"}}},
          {"network_policies", true}};
}

Json old_settings(const std::string& url) {
  return {{"api_url", url}, {"sandboxes", "pods"}, {"namespace", "old"}};
}

Json lost_class_settings(const std::string& url) {
  return {{"api_url", url}, {"runtime_class", "lost"}, {"isolation", {{"lost", "microvm"}}}};
}

Json resource_settings(const std::string& url) {
  return {{"api_url", url}, {"network_policies", true}};
}

class KubernetesCluster : public testing::Test {
 protected:
  void SetUp() override { point_at(&pod_settings); }

  void point_at(Json (*settings)(const std::string&)) {
    for (VendorLine line : vendor_lines()) {
      if (line.name != "kubernetes") continue;
      line.settings = settings;
      line.specs = "k8s-agent-sandbox";
      vendor_ = std::make_unique<Vendor>(line, loop_.executor());
    }
  }
  Provider& provider() { return other_ ? *other_ : vendor_->provider(); }
  CreateSpec spec(NetworkDefault network = NetworkDefault::allow) {
    return {.sandbox_id = SandboxId::make().value,
            .image = "tools",
            .metadata = {{"run", "1"}},
            .network = {.fallback = network}};
  }
  Outcome<BackendSandbox> create(CreateSpec wanted) {
    return loop_.run(attempt(provider().create(std::move(wanted))));
  }
  std::optional<ErrorCode> refusal(CreateSpec wanted) {
    const auto outcome = create(std::move(wanted));
    const auto* error = std::get_if<Error>(&outcome);
    return error ? std::optional(error->code) : std::nullopt;
  }
  // Output and status of a command that is given some input.
  std::pair<std::string, int> ran(const std::string& id, Command command, std::string input) {
    command.process_id = ProcessId::make().value;
    auto stream = loop_.run(provider().exec(id, std::move(command)));
    if (!input.empty()) loop_.run(stream->write_stdin(std::move(input)));
    loop_.run(stream->close_stdin());
    std::string output;
    for (;;) {
      auto event = loop_.run(stream->next());
      if (const auto* exit = std::get_if<ProcessExit>(&*event)) return {output, exit->exit_code};
      output += std::get<OutputChunk>(*event).bytes;
    }
  }
  Json state() { return vendor_->server().state(); }

  LiveLoop loop_;
  CurlClient http_;
  std::unique_ptr<Vendor> vendor_;
  std::shared_ptr<Provider> other_;  // instead of the vendor's
};

TEST_F(KubernetesCluster, APlainPodLivesAndDies) {
  const auto box = std::get<BackendSandbox>(create(spec()));
  EXPECT_TRUE(box.backend_id.starts_with("pods/"));
  EXPECT_EQ(box.isolation, Isolation::kernel);
  EXPECT_EQ(provider().descriptor().isolation, Isolation::kernel);
  EXPECT_EQ(loop_.run(provider().find(box.backend_id))->isolation, Isolation::kernel);
  EXPECT_EQ(loop_.run(provider().find_by_tag(box.sandbox_id))->backend_id, box.backend_id);
  std::vector<std::string> others;  // the fake's pages hold two
  for (int i = 0; i < 2; ++i) others.push_back(std::get<BackendSandbox>(create(spec())).backend_id);
  EXPECT_EQ(loop_.run(provider().list()).size(), 3u);
  loop_.run(provider().extend(box.backend_id, std::chrono::seconds(60)));
  EXPECT_EQ(ran(box.backend_id, {.argv = {"cat"}}, "in").first, "in");
  others.push_back(box.backend_id);
  for (const auto& id : others) loop_.run(provider().kill(id));
  EXPECT_FALSE(loop_.run(provider().find(box.backend_id)));
  EXPECT_EQ(loop_.run(provider().list()).size(), 0u);
  EXPECT_EQ(state()["violations"], Json::array());
}

TEST_F(KubernetesCluster, APodThatLostItsRuntimeClassIsNotAccepted) {
  point_at(&lost_class_settings);
  EXPECT_EQ(refusal(spec()), ErrorCode::no_capacity);
  EXPECT_EQ(state()["boxes"], Json::array());
  EXPECT_EQ(state()["created"], 1);
}

TEST_F(KubernetesCluster, WhatCannotStartIsGivenUpAndRemoved) {
  CreateSpec unknown = spec();
  unknown.image = "nowhere/to/be:found";
  EXPECT_EQ(refusal(unknown), ErrorCode::no_capacity);
  CreateSpec huge = spec();
  huge.resources.milli_vcpu = 64'000;
  EXPECT_EQ(refusal(huge), ErrorCode::no_capacity);
  EXPECT_EQ(state()["boxes"], Json::array());
  EXPECT_EQ(state()["created"], 2);
}

TEST_F(KubernetesCluster, NothingIsLetOutOnlyWithThePolicyInPlace) {
  for (int turn = 0; turn < 2; ++turn) {
    const auto box = std::get<BackendSandbox>(create(spec(NetworkDefault::deny)));
    loop_.run(provider().kill(box.backend_id));
  }
  int made = 0;
  const Json before = state();
  for (const auto& asked : before["asked"])
    made += asked.get<std::string>().starts_with("POST /apis/networking.k8s.io");
  EXPECT_EQ(made, 1);
  vendor_->server().fault(
      {{"match", "GET .*networkpolicies"}, {"kind", "status"}, {"status", 500}});
  EXPECT_EQ(refusal(spec(NetworkDefault::deny)), ErrorCode::unavailable);
  vendor_->server().clear_faults();
  EXPECT_EQ(state()["created"], 2);
}

TEST_F(KubernetesCluster, InputEndsBeforeVersionFive) {
  point_at(&old_settings);
  const auto box = std::get<BackendSandbox>(create(spec()));
  std::string bytes;
  for (int i = 0; i < 300'000; ++i) bytes.push_back(static_cast<char>(i % 251));
  EXPECT_EQ(ran(box.backend_id, {.argv = {"cat"}}, bytes).first, bytes);
  EXPECT_EQ(ran(box.backend_id, {.argv = {"cat"}}, "").first, "");
  EXPECT_EQ(ran(box.backend_id, {.shell = "read a; echo $a; exit 5"}, "one\ntwo\n"),
            std::pair(std::string("one\n"), 5));
  TextBytes file(bytes);
  EXPECT_EQ(loop_.run(provider().write_file(box.backend_id, "f", 0600, file)).size, bytes.size());
  loop_.run(provider().kill(box.backend_id));
}

TEST_F(KubernetesCluster, ACommandsWordsAreNotInTheRequest) {
  const auto box = std::get<BackendSandbox>(create(spec()));
  ran(box.backend_id, {.shell = "true # hidden"}, "");
  ran(box.backend_id, {.shell = "true # hidden", .pty = PtySize{}}, "");
  const Json after = state();
  for (const auto& words : after["words"])
    EXPECT_EQ(words.get<std::string>().find("hidden"), std::string::npos) << words;
  EXPECT_GE(after["words"].size(), 3u);
  loop_.run(provider().kill(box.backend_id));
}

TEST_F(KubernetesCluster, WhatItsRulesForbidIsNoFailureOfOurs) {
  const auto box = std::get<BackendSandbox>(create(spec()));
  Json fault{{"match", "GET .*/exec"}, {"kind", "status"}, {"status", 403}};
  const auto refused = [&] {
    vendor_->server().fault(fault);
    const auto outcome = loop_.run(attempt(provider().exec(box.backend_id, {.argv = {"true"}})));
    vendor_->server().clear_faults();
    return std::get<Error>(outcome);
  };
  EXPECT_TRUE(are_credentials_refused(refused()));
  fault["message"] = "admission webhook \"rules\" denied the request: no commands here";
  EXPECT_EQ(refused().code, ErrorCode::invalid);
  EXPECT_EQ(refused().provider, "kubernetes");
  loop_.run(provider().kill(box.backend_id));
}

TEST_F(KubernetesCluster, ACertificateOfTheClustersOwnAuthorityOpensIt) {
  const Json tls = state()["tls"];
  const auto connect = [&](Json settings, Json credentials) {
    settings["api_url"] = tls["url"];
    settings["sandboxes"] = "pods";
    const ProviderConfig config{.settings = settings, .credentials = credentials};
    other_ = find_provider_kind("kubernetes")->make({http_, loop_.executor()}, config);
  };
  const Json own{{"client_certificate", tls["certificate"]}, {"client_key", tls["key"]}};
  connect({{"ca_certificate", tls["certificate"]}}, own);
  const auto box = std::get<BackendSandbox>(create(spec()));
  EXPECT_EQ(ran(box.backend_id, {.argv = {"cat"}}, "in").first, "in");
  connect(Json::object(), own);
  EXPECT_EQ(refusal(spec()), ErrorCode::unavailable);
  connect({{"ca_certificate", tls["certificate"]}}, {{"token", "kube_0001"}});
  EXPECT_EQ(refusal(spec()), ErrorCode::unavailable);
  connect({{"ca_certificate", tls["certificate"]}}, own);
  loop_.run(provider().kill(box.backend_id));
  EXPECT_EQ(state()["created"], 1);
}

TEST_F(KubernetesCluster, WhatEndedIsLeftToBeKilled) {
  KubernetesSettings settings;
  settings.form = KubernetesSettings::Form::pods;
  ScriptedClient cluster;
  const auto pod = [](const char* name, const char* phase) {
    return Json{{"metadata", {{"name", name}, {"labels", {{"sandgate_id", name}}}}},
                {"spec", Json::object()},
                {"status", {{"phase", phase}}}};
  };
  Json leaving = pod("c", "Running");
  leaving["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:01Z";
  const Json pods{{"items", {pod("a", "Failed"), pod("b", "Running"), leaving}}};
  cluster.always({200, {}, pods.dump()});
  const auto alone = std::make_shared<KubernetesProvider>(cluster, loop_.executor(), settings);
  const auto listed = loop_.run(alone->list());
  ASSERT_EQ(listed.size(), 2u);
  EXPECT_EQ(listed[0].state, BackendState::gone);
  EXPECT_EQ(listed[1].state, BackendState::running);
  EXPECT_EQ(cluster.last().method, "GET") << "it may be another installation's";
}

// It tells of no pod, and all of them would be given up.
TEST_F(KubernetesCluster, ANotFoundThatIsNotTheApiServersTellsNothing) {
  KubernetesSettings settings;
  ScriptedClient cluster;
  cluster.always({404, {{"Content-Type", "text/plain"}}, "404 page not found\n"});
  const auto alone = std::make_shared<KubernetesProvider>(cluster, loop_.executor(), settings);
  const auto refused = [this](auto task) {
    const auto outcome = loop_.run(attempt(std::move(task)));
    return std::holds_alternative<Error>(outcome) &&
           std::get<Error>(outcome).code == ErrorCode::unavailable;
  };
  EXPECT_TRUE(refused(alone->find("pods/a")));
  EXPECT_TRUE(refused(alone->kill("pods/a")));
  EXPECT_TRUE(refused(alone->list()));
  // As a cluster without agent-sandbox answers.
  EXPECT_FALSE(loop_.run(alone->find("sandboxes/a")));
  cluster.always({404, {}, R"({"kind": "Status", "reason": "NotFound"})"});
  EXPECT_FALSE(loop_.run(alone->find("pods/a")));
  loop_.run(alone->kill("pods/a"));
}

TEST_F(KubernetesCluster, APodIsNotKeptBeyondItsDeadline) {
  KubernetesSettings settings;
  settings.form = KubernetesSettings::Form::pods;
  ScriptedClient cluster;
  const Json pod{{"spec", {{"activeDeadlineSeconds", 600}}},
                 {"status", {{"startTime", to_rfc3339(SystemClock().now())}}}};
  cluster.always({200, {}, pod.dump()});
  const auto alone = std::make_shared<KubernetesProvider>(cluster, loop_.executor(), settings);
  loop_.run(alone->extend("pods/a", std::chrono::seconds(500)));
  const auto outcome = loop_.run(attempt(alone->extend("pods/a", std::chrono::seconds(700))));
  ASSERT_TRUE(std::holds_alternative<Error>(outcome));
  EXPECT_EQ(std::get<Error>(outcome).fields.at(0).path, "/ttl_seconds");
}

TEST_F(KubernetesCluster, RequestsFitTheResourcesDefinition) {
  point_at(&resource_settings);
  const auto box = std::get<BackendSandbox>(create(spec(NetworkDefault::deny)));
  EXPECT_TRUE(box.backend_id.starts_with("sandboxes/"));
  loop_.run(provider().extend(box.backend_id, std::chrono::seconds(60)));
  loop_.run(provider().kill(box.backend_id));
  if (!vendor_->server().checks_requests()) GTEST_SKIP() << "SANDGATE_VENDOR_SPECS is not set";
  EXPECT_EQ(state()["violations"], Json::array());
}

}  // namespace
}  // namespace sandgate::test
