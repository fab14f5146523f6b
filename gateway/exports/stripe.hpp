#pragma once
#include "gateway/exports/export_catalog.hpp"

namespace sandgate {

// Stripe Billing meter events, one per usage event.
//   settings: customers {tenant: "cus_…"} (tenants without one are left out), meters {our meter:
//             event name} (likewise), value "quantity" (default) or "charge", url, allow_private
//   secrets:  api_key
ExportKind stripe_export_kind();

}  // namespace sandgate
