#pragma once
#include <string>

#include <CLI/CLI.hpp>

#include "gateway/cli/context.hpp"

// How commands name a tenant: by its id, or by its name if no other has that.
namespace sandgate::cli {

// Adds the value `name` that tells which tenant a command is about.
void add_tenant(CLI::App& command, std::string& tenant, const std::string& name = "TENANT");

// The path of that tenant. Errors as of tenant_id_of().
std::string tenant_path(const Context& context, const std::string& given);

// The id of the tenant that `given` names: an id as it is (also an unknown one, which the gateway
// refuses), else that of the only tenant with this name. `client` lists the tenants. Throws
// Error(not_found) when none has the name, and Error(invalid) with the ids when several have.
std::string tenant_id_of(const Client& client, const std::string& given);

}  // namespace sandgate::cli
