#include "providers/sandgate.hpp"
#include "tests/contract/provider_contract.hpp"
#include "tests/support/box_gateway.hpp"

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

}  // namespace

std::vector<BackendLine> backend_lines() {
  return {
      {"process",
       [](LiveLoop& loop) -> std::unique_ptr<Backend> {
         return std::make_unique<ProcessBackend>(loop);
       }},
      {"inner_gateway",
       [](LiveLoop& loop) -> std::unique_ptr<Backend> {
         return std::make_unique<InnerGatewayBackend>(loop);
       }},
  };
}

}  // namespace sandgate::test
