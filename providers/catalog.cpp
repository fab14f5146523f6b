#include "providers/catalog.hpp"

#include "providers/agentcore_kind.hpp"
#include "providers/agentcore_runtime_kind.hpp"
#include "providers/blaxel_kind.hpp"
#include "providers/cloudflare_kind.hpp"
#include "providers/daytona_kind.hpp"
#include "providers/e2b_kind.hpp"
#include "providers/kubernetes_kind.hpp"
#include "providers/modal_kind.hpp"
#include "providers/northflank_kind.hpp"
#include "providers/opensandbox_kind.hpp"
#include "providers/runloop_kind.hpp"
#include "providers/sandgate_kind.hpp"
#include "providers/sprites_kind.hpp"
#include "providers/vercel_kind.hpp"

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
