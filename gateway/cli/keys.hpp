#pragma once
#include "gateway/cli/context.hpp"

namespace sandgate::cli {

// Makes an operator's key without a gateway, from the server's own configuration; takes and
// answers what POST /v1/keys does.
using OperatorKeyMaker = std::function<Json(const Json& body)>;

// keys create|list|revoke|rotate
// Without `make_operator_key`, operators' keys are made through the API alone.
void add_key_commands(CLI::App& app, const ContextPtr& context,
                      OperatorKeyMaker make_operator_key = {});

}  // namespace sandgate::cli
