#include "tests/vendors/vendor_lines.hpp"

#include "providers/catalog.hpp"
#include "tests/support/live_loop.hpp"

namespace sandgate::test {
namespace {

VendorLine agentcore_line() {
  return {.name = "agentcore",
          .script = "agentcore/fake_agentcore.py",
          .specs = "aws-bedrock-agentcore",
          .image = "aws.codeinterpreter.v1",
          .create = "PUT /code-interpreters/aws.codeinterpreter.v1/sessions/start$",
          .exec = "POST .*/tools/invoke$",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url}, {"region", "us-east-1"}};
              },
          .credentials = {{"access_key_id", "AKIA0001"},
                          {"secret_access_key", "secret/key+0001"},
                          {"session_token", "session+token/0001=="}},
          .question = "(GET |POST .*/sessions/list$)",
          .kill = "PUT .*stop"};
}

VendorLine agentcore_runtime_line() {
  return {.name = "agentcore_runtime",
          .script = "agentcore/fake_agentcore.py",
          .specs = "aws-bedrock-agentcore",
          .image = "tools-abcdefghij",
          .create = "POST .*/commands$",
          .exec = "POST .*/commands$",
          .settings =
              [](const std::string& url) {
                return Json{
                    {"api_url", url},
                    {"control_url", url},
                    {"runtime",
                     "arn:aws:bedrock-agentcore:us-east-1:123456789012:runtime/tools-abcdefghij"}};
              },
          .credentials = agentcore_line().credentials,
          .question = "(GET |POST .*/commands$)",
          .kill = "POST .*/stopruntimesession$",
          .labels = false,
          .undoes_create = true};
}

VendorLine blaxel_line() {
  return {.name = "blaxel",
          .script = "blaxel/fake_blaxel.py",
          .specs = "blaxel",
          .image = "tools",
          .create = "POST /v0/sandboxes$",
          .exec = "POST .*/process$",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url + "/v0"}, {"workspace", "sandgate"}};
              },
          .credentials = {{"api_key", "bl_0001"}},
          .described = "/sbx/any/process"};
}

VendorLine cloudflare_line() {
  return {.name = "cloudflare",
          .script = "cloudflare/fake_cloudflare.py",
          .specs = "cloudflare-sandbox-bridge",
          .image = "",
          .create = "PUT .*/file/workspace/.sandgate$",
          .exec = "POST .*/exec$",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url}};
              },
          .credentials = {{"api_key", "cf_0001"}},
          .labels = false};
}

VendorLine daytona_line() {
  return {.name = "daytona",
          .script = "daytona/fake_daytona.py",
          .specs = "daytona",
          .image = "daytona-small",
          .create = "POST /api/sandbox$",
          .exec = "POST .*/process/session",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url + "/api"}};
              },
          .credentials = {{"api_key", "dtn_0001"}},
          .forbidden = ErrorCode::no_capacity};
}

VendorLine e2b_line() {
  return {.name = "e2b",
          .script = "e2b/fake_e2b.py",
          .specs = "e2b",
          .image = "base",
          .create = "POST /sandboxes$",
          .exec = "POST /process.Process/Start",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url}, {"sandbox_url", url}};
              },
          .credentials = {{"api_key", "e2b_00000000000000000000000000000001"}},
          .forbidden = ErrorCode::no_capacity,
          .accounts = true};
}

VendorLine kubernetes_line() {
  return {.name = "kubernetes",
          .script = "kubernetes/fake_kubernetes.py",
          .specs = "k8s-agent-sandbox",
          .image = "tools",
          .create = "POST /apis/agents.x-k8s.io/v1beta1/namespaces/default/sandboxes$",
          .exec = "GET .*/exec",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url}};
              },
          .credentials = {{"token", "kube_0001"}}};
}

VendorLine modal_line() {
  return {.name = "modal",
          .script = "modal/fake_modal.py",
          .specs = "",
          .image = "debian:12-slim",
          .create = "POST .*/SandboxCreateV2$",
          .exec = "POST .*/TaskExecStart$",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url}};
              },
          .credentials = {{"token_id", "ak-0001"}, {"token_secret", "as-0001"}},
          .question = "POST .*/Sandbox(Wait|List|TagsGet)V2$",
          .kill = "POST .*/SandboxTerminateV2$"};
}

VendorLine northflank_line() {
  return {.name = "northflank",
          .script = "northflank/fake_northflank.py",
          .specs = "",
          .image = "debian:12",
          .create = "POST .*/services/deployment$",
          .exec = "GET /v1/command-exec/",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url}, {"team", "us"}, {"project", "sandboxes"}};
              },
          .credentials = {{"api_token", "nf_0001"}},
          .accounts = true};
}

VendorLine opensandbox_line() {
  return {.name = "opensandbox",
          .script = "opensandbox/fake_opensandbox.py",
          .specs = "opensandbox",
          .image = "tools",
          .create = "POST /v1/sandboxes$",
          .exec = "POST .*/pty$",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url + "/v1"}};
              },
          .credentials = {{"api_key", "osb_0001"}}};
}

VendorLine runloop_line() {
  return {.name = "runloop",
          .script = "runloop/fake_runloop.py",
          .specs = "",
          .image = "tools",
          .create = "POST /v1/devboxes$",
          .exec = "POST .*/execute_async",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url}};
              },
          .credentials = {{"api_key", "ak_0001"}}};
}

VendorLine sprites_line() {
  return {.name = "sprites",
          .script = "sprites/fake_sprites.py",
          .specs = "",
          .image = "dev",
          .create = "POST /v1/sprites$",
          .exec = "GET .*/exec$",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url}};
              },
          .credentials = {{"token", "org/1/0001"}}};
}

VendorLine vercel_line() {
  return {.name = "vercel",
          .script = "vercel/fake_vercel.py",
          .specs = "",
          .image = "vercel/sandbox/universal:latest",
          .create = "POST /v3/sandboxes$",
          .exec = "POST .*/cmd$",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url}, {"team", "team_1"}, {"project", "prj_1"}};
              },
          .credentials = {{"token", "vca_0001"}}};
}

std::shared_ptr<Provider> provider_at(const std::string& url, const VendorLine& line,
                                      const ProviderParts& parts,
                                      std::shared_ptr<LiveInputs> inputs = nullptr) {
  const ProviderConfig config{
      .settings = line.settings(url), .credentials = line.credentials, .inputs = std::move(inputs)};
  return find_provider_kind(line.name)->make(parts, config);
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const VendorLine& line) { return out << line.name; }

const std::vector<VendorLine>& vendor_lines() {
  static const std::vector<VendorLine> kLines{
      agentcore_line(),  agentcore_runtime_line(),
      blaxel_line(),     cloudflare_line(),
      daytona_line(),    e2b_line(),
      kubernetes_line(), modal_line(),
      northflank_line(), opensandbox_line(),
      runloop_line(),    sprites_line(),
      vercel_line(),
  };
  return kLines;
}

const std::vector<Descriptor>& vendor_descriptors() {
  static const std::vector<Descriptor> kDescriptors = [] {
    LiveLoop loop;
    CurlClient http;
    std::vector<Descriptor> all;
    for (const VendorLine& line : vendor_lines())
      all.push_back(provider_at("http://127.0.0.1:1", line, {http, loop.executor()})->descriptor());
    return all;
  }();
  return kDescriptors;
}

std::vector<VendorLine> vendors_with(Verb verb) {
  std::vector<VendorLine> lines;
  for (size_t i = 0; i < vendor_lines().size(); ++i)
    if (vendor_descriptors()[i].can(verb)) lines.push_back(vendor_lines()[i]);
  return lines;
}

Vendor::Vendor(const VendorLine& line, asio::any_io_executor executor,
               std::shared_ptr<VendorServer> server)
    : line_(line),
      executor_(std::move(executor)),
      server_(server ? std::move(server) : std::make_shared<VendorServer>(line.script, line.specs)),
      inputs_(std::make_shared<LiveInputs>()) {
  change();
}

void Vendor::change() {
  provider_ = provider_at(server_->url(), line_, {http_, executor_}, inputs_);
}

}  // namespace sandgate::test
