#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// sandgate invoices: drafts, issued ones and their lines.
void add_invoice_commands(CLI::App& app, const ContextPtr& context);

}  // namespace sandgate::cli
