#include <string_view>

#include "local/namespaces/isolation_measure.hpp"

namespace sandgate {

bool is_applied(const LaunchSpec& spec, const char* wall) {
  auto found = spec.env.find("SANDGATE_WITHOUT");
  if (found == spec.env.end()) return true;
  return ("," + found->second + ",").find("," + std::string(wall) + ",") == std::string::npos;
}

}  // namespace sandgate
