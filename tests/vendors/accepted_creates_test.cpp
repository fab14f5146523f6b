#include <gtest/gtest.h>

#include <algorithm>

#include "gateway/core/ids.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

// Creates of many vendors are accepted first and asked for until they run. A question that fails
// must not give up what was accepted.
namespace sandgate::test {
namespace {

void create_while(const std::string& vendor_name, const std::string& question, Json fault) {
  LiveLoop loop;
  const VendorLine line = *std::ranges::find(vendor_lines(), vendor_name, &VendorLine::name);
  Vendor vendor(line, loop.executor());
  CreateSpec spec{.sandbox_id = SandboxId::make().value, .image = line.image};
  spec.network.fallback = NetworkDefault::allow;
  fault.update({{"match", question}, {"kind", "status"}, {"times", 2}});
  vendor.server().fault(fault);
  const auto outcome = loop.run(attempt(vendor.provider().create(std::move(spec))));
  const auto* error = std::get_if<Error>(&outcome);
  ASSERT_FALSE(error) << vendor_name << ": " << error->what();
  loop.run(vendor.provider().kill(std::get<BackendSandbox>(outcome).backend_id));
}

TEST(AcceptedCreates, OutliveQuestionsThatFail) {
  for (const Json& fault :
       {Json{{"status", 503}}, Json{{"status", 429}, {"headers", {{"Retry-After", "0"}}}}}) {
    create_while("daytona", "GET .*/sandbox/[^/]+$", fault);
    create_while("kubernetes", "GET .*/pods/[^/]+$", fault);
    create_while("northflank", "GET .*/services/[^/]+$", fault);
    create_while("opensandbox", "GET .*/sandboxes/[^/]+$", fault);
    create_while("opensandbox", "GET .*/endpoints/[^/]+$", fault);
    create_while("runloop", "GET .*/devboxes/[^/]+$", fault);
  }
}

}  // namespace
}  // namespace sandgate::test
