#pragma once
#include "gateway/exports/export_catalog.hpp"

namespace sandgate {

// Batches of usage events as JSON to any receiver, signed as webhooks are: header
// Sandgate-Signature: t=<unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">.
//   settings: url, allow_private
//   secrets:  secret
// A 2xx takes the batch; redirects, 408, 425, 429 and 5xx have it sent again; other answers refuse
// it.
ExportKind webhook_export_kind();

}  // namespace sandgate
