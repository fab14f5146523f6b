#include "tests/contract/provider_contract.hpp"
#include "tests/contract/running_gateway.hpp"
#include "tests/local/local_node.hpp"

// The backends that need a machine of their own: a real node, and a real gateway over one.
namespace sandgate::test {
namespace {

// Started once, by the first test that wants it; ended with the program.
template <class T>
T& shared() {
  static T one;
  return one;
}

class LocalBackend : public Backend {
 public:
  explicit LocalBackend(LiveLoop& loop) : node_(shared<LocalNode>()) {
    loop.run(node_.provider().refresh());
  }
  Provider& provider() override { return node_.provider(); }
  CreateSpec spec() override { return node_.spec(); }

 private:
  LocalNode& node_;
};

class RunningGatewayBackend : public Backend {
 public:
  explicit RunningGatewayBackend(LiveLoop& loop)
      : provider_(std::make_shared<SandgateProvider>(http_, loop.executor(),
                                                     shared<RunningGateway>().settings())) {
    loop.run(provider_->refresh());
  }
  Provider& provider() override { return *provider_; }
  CreateSpec spec() override { return {}; }

 private:
  CurlClient http_;
  std::shared_ptr<SandgateProvider> provider_;
};

}  // namespace

std::vector<BackendLine> backend_lines() {
  const std::set<Verb> every_verb{Verb::exec,   Verb::background, Verb::stdin_,   Verb::signal,
                                  Verb::files,  Verb::archive,    Verb::watch,    Verb::pty,
                                  Verb::ports,  Verb::pause,      Verb::snapshot, Verb::fork,
                                  Verb::metrics};
  return {
      {"local", every_verb,
       [](LiveLoop& loop) -> std::unique_ptr<Backend> {
         return std::make_unique<LocalBackend>(loop);
       },
       LocalNode::reason_to_skip},
      {"running_gateway", every_verb,
       [](LiveLoop& loop) -> std::unique_ptr<Backend> {
         return std::make_unique<RunningGatewayBackend>(loop);
       },
       LocalNode::reason_to_skip},
  };
}

}  // namespace sandgate::test
