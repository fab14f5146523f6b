#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Creates an operator's key without a gateway, using the server's configuration. Takes the body of
// POST /v1/keys and returns its answer.
using OperatorKeyMaker = std::function<Json(const Json& body)>;

// Adds `sandgate keys create|list|revoke|rotate`. Without `make_operator_key`, operators' keys are
// created through the API only.
void add_key_commands(CLI::App& app, const ContextPtr& context,
                      OperatorKeyMaker make_operator_key = {});

}  // namespace sandgate::cli
