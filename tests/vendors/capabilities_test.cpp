#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/vendors/vendor_lines.hpp"

// docs/capabilities.md is what the descriptors say. SANDGATE_WRITE_DOCS=1 writes it anew.
namespace sandgate::test {
namespace {

constexpr Verb kVerbs[] = {Verb::exec,   Verb::background, Verb::stdin_,   Verb::signal,
                           Verb::files,  Verb::archive,    Verb::watch,    Verb::pty,
                           Verb::ports,  Verb::pause,      Verb::snapshot, Verb::fork,
                           Verb::metrics};
constexpr Control kControls[] = {Control::network_deny,  Control::network_allow,
                                 Control::network_rules, Control::secret_injection,
                                 Control::allow_root,    Control::allow_debug,
                                 Control::cpu_limit,     Control::memory_limit,
                                 Control::process_limit, Control::disk_limit};

std::string quantity(int64_t value, const char* unit) {
  return value == 0 ? "" : std::to_string(value) + " " + unit;
}

class Table {
 public:
  explicit Table(std::vector<Descriptor> columns) : columns_(std::move(columns)) {
    row("", [](const Descriptor& d) { return d.provider; });
    text_ << "| --- |";
    for (size_t i = 0; i < columns_.size(); ++i) text_ << " --- |";
    text_ << "\n";
  }
  template <class F>
  void row(std::string_view name, F cell) {
    text_ << "| " << name << " |";
    for (const auto& column : columns_) text_ << " " << cell(column) << " |";
    text_ << "\n";
  }
  std::string text() const { return text_.str(); }

 private:
  const std::vector<Descriptor> columns_;
  std::ostringstream text_;
};

std::string rendered() {
  Table table(vendor_descriptors());
  table.row("isolation", [](const Descriptor& d) { return to_string(d.isolation); });
  for (const Verb verb : kVerbs)
    table.row("`" + std::string(to_string(verb)) + "`", [verb](const Descriptor& d) {
      const auto found = d.verbs.find(verb);
      if (found == d.verbs.end()) return std::string("-");
      return found->second == Keeps::nothing ? "yes"
                                             : "keeps " + std::string(to_string(found->second));
    });
  for (const Control control : kControls)
    table.row("`" + std::string(to_string(control)) + "`", [control](const Descriptor& d) {
      return d.controls.contains(control) ? "yes" : "-";
    });
  table.row("processors at most",
            [](const Descriptor& d) { return quantity(d.limits.max_milli_vcpu / 1000, "vCPU"); });
  table.row("memory at most",
            [](const Descriptor& d) { return quantity(d.limits.max_memory_mib, "MiB"); });
  table.row("disk at most",
            [](const Descriptor& d) { return quantity(d.limits.max_disk_gib, "GiB"); });
  table.row("time to live at most",
            [](const Descriptor& d) { return quantity(d.limits.max_ttl_seconds, "s"); });
  return "# Capabilities of the vendors\n\nWritten from the descriptors that placement reads, with "
         "the default settings; a test compares. `SANDGATE_WRITE_DOCS=1 vendors_test "
         "--gtest_filter='Capabilities.*'` writes it anew. The `sandgate` provider declares what "
         "the "
         "other gateway does, and the bundled one what its machine can.\n\n" +
         table.text();
}

TEST(Capabilities, TheDocumentIsWhatTheDescriptorsSay) {
  const std::string path = SANDGATE_CAPABILITIES;
  if (std::getenv("SANDGATE_WRITE_DOCS")) std::ofstream(path) << rendered();
  std::ifstream file(path);
  const std::string written((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(written, rendered());
}

}  // namespace
}  // namespace sandgate::test
