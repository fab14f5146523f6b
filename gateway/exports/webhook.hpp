#pragma once
#include "gateway/exports/export_catalog.hpp"

namespace sandgate {

// POSTs batches of usage events as JSON to any receiver, signed like webhooks: header
// Sandgate-Signature: t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">.
//   settings: url, allow_private
//   secrets:  secret
// A 2xx accepts the batch; a redirect and what is_transient() names cause a retry; other answers
// refuse it.
ExportKind webhook_export_kind();

}  // namespace sandgate
