#pragma once
#include <string>
#include <vector>

#include "gateway/core/json_reader.hpp"

namespace sandgate::cli {

// {"A":"1"} from {"A=1"}; `what` names the option in the Error(invalid) for a text without '='.
Json pairs(const std::vector<std::string>& texts, const std::string& what);

}  // namespace sandgate::cli
