#include "providers/modal/modal_kind.hpp"

#include "providers/kind_settings.hpp"
#include "providers/modal/modal.hpp"
#include "providers/vendor_kind.hpp"

namespace sandgate {
namespace {

// The vendor documents no limits; it refuses what exceeds the account's.
constexpr DescriptorLimits kModalLimits{.max_ttl_seconds = 86'400};

ModalSettings read_modal(const Json& settings, const Json& credentials, Problems& problems) {
  ModalSettings result;
  ObjectReader reader(settings, problems, "/settings");
  result.api_url = read_base_url(reader, "api_url", result.api_url);
  result.app = reader.text("app", {1, 64}).value_or(result.app);
  result.environment = reader.text("environment", {1, 64}).value_or("");
  result.rules.region = reader.text("region", {1, 64}).value_or("");
  result.rules.runtime = reader.word("runtime", {"gvisor", "vm"}).value_or(result.rules.runtime);
  result.rules.keep_alive_seconds =
      reader.integer("keep_alive_seconds", 60, 86'400).value_or(result.rules.keep_alive_seconds);
  result.process_limit = reader.boolean("process_limit").value_or(false);
  result.disk_limit = reader.boolean("disk_limit").value_or(false);
  result.limits = read_limits(reader, kModalLimits);
  reader.finish();
  ObjectReader keys(credentials, problems, "/credentials");
  result.token_id = read_credential(keys, "token_id");
  result.token_secret = read_credential(keys, "token_secret");
  keys.finish();
  return result;
}

}  // namespace

ProviderKind modal_kind() { return vendor_kind<ModalProvider>("modal", &read_modal); }

}  // namespace sandgate
