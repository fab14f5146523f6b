#pragma once
#include <map>
#include <string>

#include "gateway/sandboxes/sandbox_cache.hpp"

namespace sandgate::compat::e2b {

// Sets what a template's programs find in their environment, unless the client set it.
Task<void> add_template_environment(SandboxCache& sandboxes, SandboxId sandbox,
                                    std::map<std::string, std::string>& env);

}  // namespace sandgate::compat::e2b
