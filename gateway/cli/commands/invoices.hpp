#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Adds `sandgate invoices`: drafts, issued invoices and their lines.
void add_invoice_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
