#include "providers/catalog.hpp"

#include "providers/agentcore/agentcore_kind.hpp"
#include "providers/agentcore/agentcore_runtime_kind.hpp"
#include "providers/blaxel/blaxel_kind.hpp"
#include "providers/cloudflare/cloudflare_kind.hpp"
#include "providers/daytona/daytona_kind.hpp"
#include "providers/e2b/e2b_kind.hpp"
#include "providers/kubernetes/kubernetes_kind.hpp"
#include "providers/modal/modal_kind.hpp"
#include "providers/northflank/northflank_kind.hpp"
#include "providers/opensandbox/opensandbox_kind.hpp"
#include "providers/runloop/runloop_kind.hpp"
#include "providers/sandgate/sandgate_kind.hpp"
#include "providers/sprites/sprites_kind.hpp"
#include "providers/vercel/vercel_kind.hpp"

namespace sandgate {

const std::vector<ProviderKind>& provider_kinds() {
  static const std::vector<ProviderKind> kKinds{
      sandgate_kind(),   agentcore_kind(),   agentcore_runtime_kind(),
      blaxel_kind(),     cloudflare_kind(),  daytona_kind(),
      e2b_kind(),        kubernetes_kind(),  modal_kind(),
      northflank_kind(), opensandbox_kind(), runloop_kind(),
      sprites_kind(),    vercel_kind(),
  };
  return kKinds;
}

const ProviderKind* find_provider_kind(std::string_view name) {
  for (const auto& kind : provider_kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

}  // namespace sandgate
