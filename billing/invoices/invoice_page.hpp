#pragma once
#include <string>

#include "billing/invoices/invoice.hpp"

namespace sandgate {

// The invoice as one self-contained page of HTML. `issuer`: lines that are printed at its top, such
// as a name, an address and the terms of payment; may be empty.
std::string to_html(const Invoice& invoice, const std::string& issuer = "");

}  // namespace sandgate
