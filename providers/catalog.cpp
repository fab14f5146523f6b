#include "providers/catalog.hpp"

#include "providers/blaxel_kind.hpp"
#include "providers/daytona_kind.hpp"
#include "providers/e2b_kind.hpp"
#include "providers/runloop_kind.hpp"
#include "providers/sandgate_kind.hpp"
#include "providers/sprites_kind.hpp"

namespace sandgate {

const std::vector<ProviderKind>& provider_kinds() {
  static const std::vector<ProviderKind> kKinds{
      sandgate_kind(), e2b_kind(), daytona_kind(), runloop_kind(), blaxel_kind(), sprites_kind(),
  };
  return kKinds;
}

const ProviderKind* find_provider_kind(std::string_view name) {
  for (const auto& kind : provider_kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

}  // namespace sandgate
