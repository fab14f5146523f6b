#include "gateway/exports/export_catalog.hpp"

#include "gateway/exports/stripe.hpp"
#include "gateway/exports/webhook.hpp"

namespace sandgate {

const std::vector<ExportKind>& export_kinds() {
  static const std::vector<ExportKind> kKinds{
      stripe_export_kind(),
      webhook_export_kind(),
  };
  return kKinds;
}

const ExportKind* find_export_kind(std::string_view name) {
  for (const ExportKind& kind : export_kinds())
    if (kind.name == name) return &kind;
  return nullptr;
}

}  // namespace sandgate
