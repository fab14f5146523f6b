#include "tests/vendors/vendor_lines.hpp"

#include "providers/catalog.hpp"

namespace sandgate::test {
namespace {

VendorLine blaxel_line() {
  return {.name = "blaxel",
          .script = "blaxel/fake_blaxel.py",
          .specs = "",
          .image = "tools",
          .create = "POST /v0/sandboxes$",
          .exec = "POST .*/process$",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url + "/v0"}, {"workspace", "sandgate"}};
              },
          .credentials = {{"api_key", "bl_0001"}}};
}

VendorLine sprites_line() {
  return {.name = "sprites",
          .script = "sprites/fake_sprites.py",
          .specs = "",
          .image = "dev",
          .create = "POST /v1/sprites$",
          .exec = "GET .*/exec$",
          .settings =
              [](const std::string& url) {
                return Json{{"api_url", url}};
              },
          .credentials = {{"token", "org/1/0001"}}};
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
      blaxel_line(),
      sprites_line(),
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
