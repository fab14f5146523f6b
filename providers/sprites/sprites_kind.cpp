#include "providers/sprites/sprites_kind.hpp"

#include "providers/kind_settings.hpp"
#include "providers/sprites/sprites.hpp"
#include "providers/vendor_kind.hpp"

namespace sandgate {
namespace {

// The only size; memory grows with its use.
constexpr DescriptorLimits kSpritesLimits{
    .max_milli_vcpu = 8000, .max_memory_mib = 8192, .max_disk_gib = 100, .max_ttl_seconds = 0};

SpritesSettings read_sprites(const Json& settings, const Json& credentials, Problems& problems) {
  SpritesSettings result;
  ObjectReader reader(settings, problems, "/settings");
  result.api_url = read_base_url(reader, "api_url", result.api_url);
  result.runtime = reader.text("runtime", {1, 100}).value_or(result.runtime);
  result.limits = read_limits(reader, kSpritesLimits);
  reader.finish();
  result.token = read_sole_credential(credentials, "token", problems);
  return result;
}

}  // namespace

ProviderKind sprites_kind() { return vendor_kind<SpritesProvider>("sprites", &read_sprites); }

}  // namespace sandgate
