#pragma once
#include <string>

#include "gateway/cli/client.hpp"

namespace sandgate::cli {

// The id of the tenant that `given` names: an id as it is (also an unknown one, which the gateway
// refuses), else that of the only tenant with this name. `client` lists the tenants. Throws
// Error(not_found) when none has the name, and Error(invalid) with the ids when several have.
std::string tenant_id_of(const Client& client, const std::string& given);

}  // namespace sandgate::cli
