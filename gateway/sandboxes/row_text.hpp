#pragma once
#include <string>
#include <vector>

#include "gateway/placement/decision.hpp"

// Values as statements take them.
namespace sandgate::sandbox_rows {

// A PostgreSQL array literal.
std::string array_text(const std::vector<std::string>& items);
// For json_to_recordset: ordinal, deployment, outcome, code, duration_ms.
std::string attempts_text(const std::vector<Attempt>& attempts);

}  // namespace sandgate::sandbox_rows
