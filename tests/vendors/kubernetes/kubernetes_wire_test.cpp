#include "providers/kubernetes/kubernetes_wire.hpp"

#include <gtest/gtest.h>

#include "providers/catalog.hpp"

namespace sandgate::kubernetes {
namespace {

PodRules rules_of_test() {
  PodRules rules;
  rules.runtime_class = "gvisor";
  rules.isolation = {{"gvisor", Isolation::kernel}, {"kata", Isolation::microvm}};
  rules.network_policies = true;
  return rules;
}

Json pod_that_is(const char* phase, Json more = Json::object()) {
  Json pod{{"metadata", {{"name", "sb1"}, {"labels", {{"sandgate_id", "sb1"}}}}},
           {"spec", Json::object()},
           {"status", std::move(more)}};
  pod["status"]["phase"] = phase;
  return pod;
}

TEST(KubernetesWire, APodIsFencedAndSized) {
  CreateSpec spec{.sandbox_id = "sb1",
                  .image = "tools",
                  .resources = {.milli_vcpu = 250, .memory_mib = 128, .disk_gib = 3},
                  .env = {{"A", "$(B) $x"}},
                  .metadata = {{"any thing", "at all"}}};
  const Json pod = to_pod(spec, rules_of_test());
  EXPECT_EQ(pod["metadata"]["name"], "sb1");
  EXPECT_EQ(pod["metadata"]["labels"]["sandgate_id"], "sb1");
  EXPECT_EQ(pod["metadata"]["labels"]["sandgate_network"], "deny");
  EXPECT_EQ(pod["metadata"]["annotations"]["sandgate/metadata"], R"({"any thing":"at all"})");
  EXPECT_EQ(pod["spec"]["automountServiceAccountToken"], false);
  EXPECT_EQ(pod["spec"]["runtimeClassName"], "gvisor");
  EXPECT_EQ(pod["spec"]["securityContext"]["fsGroup"], 1000);
  const Json& container = pod["spec"]["containers"][0];
  EXPECT_EQ(container["resources"]["limits"],
            (Json{{"cpu", "250m"}, {"memory", "128Mi"}, {"ephemeral-storage", "3Gi"}}));
  EXPECT_EQ(container["securityContext"]["runAsNonRoot"], true);
  EXPECT_EQ(container["securityContext"]["allowPrivilegeEscalation"], false);
  EXPECT_EQ(container["securityContext"]["capabilities"], (Json{{"drop", Json::array({"ALL"})}}));
  EXPECT_EQ(container["volumeMounts"].size(), 1u);
  // A reference to another variable is text here.
  EXPECT_EQ(container["env"][0], (Json{{"name", "A"}, {"value", "$$(B) $$x"}}));
  spec.allow_root = true;
  EXPECT_EQ(to_pod(spec, {.network_policies = true})["spec"]["containers"][0]["securityContext"],
            Json::object());
}

TEST(KubernetesWire, WhatNobodyEnforcesIsRefused) {
  CreateSpec spec{.sandbox_id = "sb1"};
  EXPECT_THROW(to_pod(spec, {}), Error);
  spec.network = {.fallback = NetworkDefault::allow};
  EXPECT_NO_THROW(to_pod(spec, {}));
  spec.snapshot = "x";
  EXPECT_THROW(to_pod(spec, {}), Error);
  spec = {.sandbox_id = "sb1", .network = {.allow = {"example.com:443"}}};
  EXPECT_THROW(to_pod(spec, rules_of_test()), Error);
}

TEST(KubernetesWire, ASandboxEndsWhenItsTimeIsUp) {
  CreateSpec spec{.sandbox_id = "sb1", .network = {.fallback = NetworkDefault::allow}};
  const Json made = to_sandbox(spec, {}, from_micros(1'800'000'000'000'001));
  EXPECT_EQ(made["spec"]["shutdownTime"], "2027-01-15T08:00:01Z");
  EXPECT_EQ(made["spec"]["shutdownPolicy"], "Delete");
  EXPECT_EQ(made["spec"]["podTemplate"]["metadata"]["labels"]["sandgate_id"], "sb1");
  EXPECT_FALSE(made["spec"]["podTemplate"]["metadata"].contains("name"));
}

TEST(KubernetesWire, IsolationIsWhatThePodHasAndTheOperatorVouchesFor) {
  const PodRules rules = rules_of_test();
  Json pod = pod_that_is("Running");
  EXPECT_EQ(to_box(pod, rules).sandbox.isolation, Isolation::container);
  pod["spec"]["runtimeClassName"] = "kata";
  EXPECT_EQ(to_box(pod, rules).sandbox.isolation, Isolation::microvm);
  pod["spec"]["runtimeClassName"] = "unheard";
  EXPECT_EQ(to_box(pod, rules).sandbox.isolation, Isolation::process);
}

TEST(KubernetesWire, NamesAreNoLongerThanAClusterTakesThem) {
  Json pod = pod_that_is("Running");
  pod["metadata"]["name"] = std::string(253, 'a');
  EXPECT_NO_THROW(to_box(pod, {}));
  Json label = pod;
  label["metadata"]["labels"]["sandgate_id"] = std::string(1 << 20, 'a');
  EXPECT_THROW(to_box(label, {}), Error);
  pod["metadata"]["name"] = std::string(1 << 20, 'a');
  EXPECT_THROW(to_box(pod, {}), Error);
}

TEST(KubernetesWire, StatesOfPodsAndResources) {
  const auto waiting = [](const char* reason) {
    const Json container{{"state", {{"waiting", {{"reason", reason}}}}}};
    return to_box(pod_that_is("Pending", {{"containerStatuses", Json::array({container})}}), {});
  };
  EXPECT_TRUE(waiting("ImagePullBackOff").failed);
  EXPECT_FALSE(waiting("ContainerCreating").failed);
  EXPECT_FALSE(waiting("ContainerCreating").running);
  const Json ready{{"type", "Ready"}, {"status", "True"}};
  const Json conditions{{"conditions", Json::array({ready})}};
  EXPECT_TRUE(to_box(pod_that_is("Running", conditions), {}).running);
  EXPECT_FALSE(to_box(pod_that_is("Running"), {}).running);
  const Box failed = to_box(pod_that_is("Failed"), {});
  EXPECT_TRUE(failed.ended);
  EXPECT_EQ(failed.sandbox.state, BackendState::gone);
  Json leaving = pod_that_is("Running", conditions);
  leaving["metadata"]["deletionTimestamp"] = "2027-01-15T08:00:01Z";
  EXPECT_EQ(to_box(leaving, {}).sandbox.state, BackendState::gone);
  Json resource{{"metadata", {{"name", "sb1"}}},
                {"spec", {{"podTemplate", {{"spec", Json::object()}}}}}};
  EXPECT_EQ(to_box(resource, {}).sandbox.backend_id, "sandboxes/sb1");
  EXPECT_EQ(to_box(resource, {}).sandbox.sandbox_id, "");
  const Json expired{{"type", "Ready"}, {"status", "False"}, {"reason", "SandboxExpired"}};
  resource["status"]["conditions"] = Json::array({expired});
  EXPECT_EQ(to_box(resource, {}).sandbox.state, BackendState::gone);
}

TEST(KubernetesWire, IdsSayWhereASandboxIs) {
  EXPECT_EQ(path_of(place_of("pods/sb1"), {}), "/api/v1/namespaces/default/pods/sb1");
  EXPECT_EQ(path_of(place_of("sandboxes/sb1"), {.space = "agents"}),
            "/apis/agents.x-k8s.io/v1beta1/namespaces/agents/sandboxes/sb1");
  EXPECT_EQ(path_of(place_of("../../secrets"), {}),
            "/api/v1/namespaces/default/pods/..%2F..%2Fsecrets");
}

TEST(KubernetesWire, APodEndsAtItsDeadline) {
  Json pod = pod_that_is("Running", {{"startTime", "2027-01-15T08:00:00Z"}});
  EXPECT_FALSE(end_of_pod(pod));
  pod["spec"]["activeDeadlineSeconds"] = 60;
  EXPECT_EQ(to_rfc3339(*end_of_pod(pod)).substr(0, 19), "2027-01-15T08:01:00");
  pod["status"].erase("startTime");
  EXPECT_FALSE(end_of_pod(pod));
  EXPECT_THROW(end_of_pod(Json::array()), Error);
}

TEST(KubernetesWire, StatusesOfProcesses) {
  EXPECT_EQ(to_status(R"({"status":"Success"})"), 0);
  EXPECT_EQ(to_status(R"({"status":"Failure","reason":"NonZeroExitCode",
                          "details":{"causes":[{"reason":"ExitCode","message":"7"}]}})"),
            7);
  EXPECT_THROW(to_status(R"({"status":"Failure","reason":"InternalError"})"), Error);
  EXPECT_THROW(to_status(R"({"status":"Failure","details":{"causes":[{"reason":"ExitCode",
                             "message":"7x"}]}})"),
               Error);
  EXPECT_THROW(to_status("{x"), Error);
  EXPECT_THROW(to_status(R"({"details":[1]})"), Error);
}

TEST(KubernetesWire, HostileAnswersAreErrors) {
  EXPECT_THROW(to_box(Json::array(), {}), Error);
  EXPECT_THROW(to_box({{"metadata", {{"name", 7}}}, {"spec", Json::object()}}, {}), Error);
  Json odd = pod_that_is("Running");
  odd["status"]["conditions"] = 7;
  EXPECT_NO_THROW(to_box(odd, {}));
  EXPECT_THROW(is_deny_policy(Json::array()), Error);
}

TEST(KubernetesWire, ThePolicyIsRecognised) {
  Json policy = deny_policy({});
  EXPECT_TRUE(is_deny_policy(policy));
  policy["spec"]["egress"] = Json::array();
  EXPECT_TRUE(is_deny_policy(policy));
  policy["spec"]["egress"] = Json::array({Json::object()});
  EXPECT_FALSE(is_deny_policy(policy));
}

TEST(KubernetesWire, WhatRulesForbidIsNoLackOfPermission) {
  const auto error = [](std::string message) {
    const Json body{{"kind", "Status"}, {"message", message}};
    return read_error("kubernetes", {403, {}, body.dump(), {}});
  };
  EXPECT_EQ(error("pods \"x\" is forbidden: exceeded quota: q").code, ErrorCode::quota_exceeded);
  for (const char* rule :
       {"pods \"x\" is forbidden: violates PodSecurity \"restricted:latest\": runAsNonRoot != true",
        "pods \"x\" is forbidden: maximum cpu usage per Container is 2, but limit is 64",
        "admission webhook \"validation.gatekeeper.sh\" denied the request: [image] no"}) {
    EXPECT_EQ(error(rule).code, ErrorCode::invalid) << rule;
    EXPECT_FALSE(are_credentials_refused(error(rule))) << rule;
    EXPECT_EQ(refused_create(error(rule)).code, ErrorCode::no_capacity) << rule;
  }
  EXPECT_TRUE(are_credentials_refused(
      error("pods is forbidden: User \"system:serviceaccount:a:b\" cannot create resource "
            "\"pods\" in API group \"\" in the namespace \"c\"")));
  // A proxy before the cluster.
  EXPECT_TRUE(are_credentials_refused(read_error("kubernetes", {403, {}, "<html>", {}})));
}

TEST(KubernetesWire, SettingsAreReadStrictly) {
  const auto wrong = [](Json settings, Json credentials) {
    settings["api_url"] = "https://10.0.0.1:6443";
    Problems problems;
    find_provider_kind("kubernetes")->validate(settings, credentials, problems);
    std::vector<std::string> paths;
    for (const auto& field : problems.fields()) paths.push_back(field.path);
    return paths;
  };
  using Paths = std::vector<std::string>;
  const Json token{{"token", "t"}};
  EXPECT_EQ(wrong({}, token), Paths{});
  EXPECT_EQ(wrong({}, Json::object()), Paths{"/credentials/token"});
  const Json key{{"client_certificate", "-----BEGIN x"}, {"client_key", "-----BEGIN y"}};
  EXPECT_EQ(wrong({}, key), Paths{});
  EXPECT_EQ(wrong({}, {{"client_certificate", "-----BEGIN x"}}), Paths{"/credentials/client_key"});
  EXPECT_EQ(wrong({{"runtime_class", "gvisor"}}, token), Paths{"/settings/runtime_class"});
  EXPECT_EQ(wrong({{"isolation", {{"runc", "process"}}}}, token),
            Paths{"/settings/isolation/runc"});
  EXPECT_EQ(wrong({{"sandboxes", "vm"}}, token), Paths{"/settings/sandboxes"});
  EXPECT_EQ(wrong({{"ca_certificate", "x"}}, token), Paths{"/settings/ca_certificate"});
}

}  // namespace
}  // namespace sandgate::kubernetes
