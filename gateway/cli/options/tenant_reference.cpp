#include "gateway/cli/options/tenant_reference.hpp"

#include <boost/algorithm/string/join.hpp>

#include "gateway/core/ids.hpp"

namespace sandgate::cli {

void add_tenant(CLI::App& command, std::string& tenant, const std::string& name) {
  command.add_option(name, tenant, "The tenant: its id or name")->required();
}

std::string tenant_path(const Context& context, const std::string& given) {
  return "/v1/tenants/" + percent_encode(context.tenant_id(given));
}

std::string tenant_id_of(const Client& client, const std::string& given) {
  if (TenantId::parse(given)) return given;
  std::vector<std::string> ids;
  for (const Json& tenant : client.all("/v1/tenants"))
    if (cell(tenant, "/name") == given) ids.push_back(cell(tenant, "/id"));
  if (ids.size() == 1) return ids.front();
  if (ids.empty())
    throw Error(ErrorCode::not_found, "no tenant has the id or the name '" + given +
                                          "': `sandgate tenants list` shows them");
  throw Error(ErrorCode::invalid, "several tenants are called '" + given +
                                      "': give an id, which is one of " +
                                      boost::algorithm::join(ids, ", "));
}

}  // namespace sandgate::cli
