#include "gateway/compat/e2b/template_environment.hpp"

namespace sandgate::compat::e2b {

Task<void> add_template_environment(SandboxCache& sandboxes, SandboxId sandbox,
                                    std::map<std::string, std::string>& env) {
  const auto known = co_await sandboxes.find(sandbox);
  env.emplace("E2B_SANDBOX", "true");
  env.emplace("E2B_SANDBOX_ID", sandbox.value);
  if (known) env.emplace("E2B_TEMPLATE_ID", known->record.profile);
}

}  // namespace sandgate::compat::e2b
