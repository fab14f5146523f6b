#include "tests/vendors/vendor_lines.hpp"

#include "providers/catalog.hpp"

namespace sandgate::test {
namespace {

VendorLine cloudflare_line() {
  return {.name = "cloudflare",
          .script = "cloudflare/fake_cloudflare.py",
          .specs = "cloudflare-sandbox-bridge",
          .image = "",
          .create = "PUT .*/file/workspace/.sandgate$",
          .exec = "POST .*/exec$",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url}};
              },
          .credentials = {{"api_key", "cf_0001"}}};
}

VendorLine vercel_line() {
  return {.name = "vercel",
          .script = "vercel/fake_vercel.py",
          .specs = "",
          .image = "vercel/sandbox/universal:latest",
          .create = "POST /v3/sandboxes$",
          .exec = "POST .*/cmd$",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url}, {"team", "team_1"}, {"project", "prj_1"}};
              },
          .credentials = {{"token", "vca_0001"}}};
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const VendorLine& line) { return out << line.name; }

const std::vector<VendorLine>& vendor_lines() {
  static const std::vector<VendorLine> kLines{
      {.name = "e2b",
       .script = "e2b/fake_e2b.py",
       .specs = "e2b",
       .image = "base",
       .create = "POST /sandboxes$",
       .exec = "POST /process.Process/Start",
       .settings =
           [](const std::string& url) {
             return Json{{"api_url", url}, {"sandbox_url", url}};
           },
       .credentials = {{"api_key", "e2b_00000000000000000000000000000001"}}},
      {.name = "daytona",
       .script = "daytona/fake_daytona.py",
       .specs = "daytona",
       .image = "daytona-small",
       .create = "POST /api/sandbox$",
       .exec = "POST .*/process/session",
       .settings =
           [](const std::string& url) {
             return Json{{"api_url", url + "/api"}};
           },
       .credentials = {{"api_key", "dtn_0001"}}},
      {.name = "runloop",
       .script = "runloop/fake_runloop.py",
       .specs = "",
       .image = "tools",
       .create = "POST /v1/devboxes$",
       .exec = "POST .*/execute_async",
       .settings =
           [](const std::string& url) {
             return Json{{"api_url", url}};
           },
       .credentials = {{"api_key", "ak_0001"}}},
      vercel_line(),
      cloudflare_line(),
  };
  return kLines;
}

Vendor::Vendor(const VendorLine& line, asio::any_io_executor executor)
    : server_(line.script, line.specs) {
  const ProviderKind* kind = find_provider_kind(line.name);
  ProviderConfig config{.settings = line.settings(server_.url()), .credentials = line.credentials};
  provider_ = kind->make({http_, std::move(executor)}, config);
}

}  // namespace sandgate::test
