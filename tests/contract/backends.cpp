#include "providers/sandgate/sandgate.hpp"
#include "tests/contract/provider_contract.hpp"
#include "tests/support/box_gateway.hpp"
#include "tests/support/script_server.hpp"
#include "tests/vendors/vendor_lines.hpp"

namespace sandgate::test {
namespace {

class ProcessBackend : public Backend {
 public:
  explicit ProcessBackend(LiveLoop& loop) : provider_(loop.executor(), directory_.path()) {}
  Provider& provider() override { return provider_; }
  CreateSpec spec() override { return {}; }

 private:
  TempDirectory directory_;
  ProcessProvider provider_;
};

// The adapter for another gateway, against the real exec and files handlers in this process.
class InnerGatewayBackend : public Backend {
 public:
  explicit InnerGatewayBackend(LiveLoop& loop)
      : gateway_(loop.executor()),
        provider_(std::make_shared<SandgateProvider>(
            gateway_.client, loop.executor(),
            SandgateSettings{"http://inner", "python", Secret("sg_key"), true})) {
    loop.run(provider_->refresh());
  }
  Provider& provider() override { return *provider_; }
  CreateSpec spec() override { return {}; }

 private:
  BoxGateway gateway_;
  std::shared_ptr<SandgateProvider> provider_;
};

// The adapter for other gateways against the example of an extension, in a process of its own.
class ExtensionBackend : public Backend {
 public:
  explicit ExtensionBackend(LiveLoop& loop)
      : script_({"env", std::string("EXTENSION_KEY=") + kKey, "python3", SANDGATE_EXTENSION,
                 "--until-eof"}),
        provider_(std::make_shared<SandgateProvider>(
            http_, loop.executor(), SandgateSettings{script_.url(), "any", Secret(kKey), true})) {
    loop.run(provider_->refresh());
  }
  Provider& provider() override { return *provider_; }
  CreateSpec spec() override { return {}; }

 private:
  static constexpr const char* kKey = "extension-key";
  ScriptServer script_;
  CurlClient http_;
  std::shared_ptr<SandgateProvider> provider_;
};

// A fake takes longer to start than a test takes, so the tests of a vendor share one.
std::shared_ptr<VendorServer>& shared_fake(const VendorLine& line) {
  static std::map<std::string, std::shared_ptr<VendorServer>> fakes;
  auto& fake = fakes[line.name];
  if (!fake) fake = std::make_shared<VendorServer>(line.script, line.specs);
  return fake;
}

// A vendor's adapter against its fake. What it asked must fit the vendor's own description.
class VendorBackend : public Backend {
 public:
  VendorBackend(LiveLoop& loop, const VendorLine& line)
      : line_(line), vendor_(line, loop.executor(), shared_fake(line)) {}
  ~VendorBackend() override {
    const auto state = vendor_.server().state();
    EXPECT_EQ(state["violations"], Json::array());
    EXPECT_EQ(state["boxes"], Json::array());
    const bool is_clean = state["violations"].empty() && state["boxes"].empty();
    if (!is_clean) shared_fake(line_).reset();  // the next test is not blamed for it
  }
  Provider& provider() override { return vendor_.provider(); }
  CreateSpec spec() override {
    return {.image = line_.image, .network = {.fallback = NetworkDefault::allow}};
  }

 private:
  const VendorLine& line_;
  Vendor vendor_;
};

// All lines of vendors, with what their descriptors declare.
void add_vendors(std::vector<BackendLine>& lines) {
  for (size_t i = 0; i < vendor_lines().size(); ++i) {
    const VendorLine& vendor = vendor_lines()[i];
    std::set<Verb> verbs;
    const Descriptor& descriptor = vendor_descriptors()[i];
    for (const auto& [verb, keeps] : descriptor.verbs) verbs.insert(verb);
    lines.push_back({vendor.name, verbs, [&vendor](LiveLoop& loop) -> std::unique_ptr<Backend> {
                       return std::make_unique<VendorBackend>(loop, vendor);
                     }});
  }
}

}  // namespace

std::vector<BackendLine> backend_lines() {
  const std::set<Verb> of_processes{Verb::exec,  Verb::background, Verb::stdin_,   Verb::signal,
                                    Verb::files, Verb::pause,      Verb::snapshot, Verb::fork};
  std::set<Verb> of_process_backend = of_processes;
  of_process_backend.insert(Verb::ports);
  std::vector<BackendLine> lines{
      {"process", of_process_backend,
       [](LiveLoop& loop) -> std::unique_ptr<Backend> {
         return std::make_unique<ProcessBackend>(loop);
       }},
      {"inner_gateway", of_processes,
       [](LiveLoop& loop) -> std::unique_ptr<Backend> {
         return std::make_unique<InnerGatewayBackend>(loop);
       }},
      {"extension",
       {Verb::exec, Verb::files},
       [](LiveLoop& loop) -> std::unique_ptr<Backend> {
         return std::make_unique<ExtensionBackend>(loop);
       }},
  };
  add_vendors(lines);
  return lines;
}

}  // namespace sandgate::test
