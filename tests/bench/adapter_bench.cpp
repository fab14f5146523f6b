// What a create costs each vendor's adapter in processor time: everything that this process spends
// on it, its HTTP client included, against the vendor's fake in a process of its own. `there`: of
// sandboxes that are there at once; `starting`: of those that are a quarter of a second later,
// which some vendors have to be asked for again and again. Usage: adapter_bench [CREATES]   prints
// {"vendor": {"there": milliseconds, "starting": …}, …}
#include <cstdlib>
#include <ctime>
#include <iostream>

#include "gateway/core/ids.hpp"
#include "tests/support/live_loop.hpp"
#include "tests/vendors/vendor_lines.hpp"

namespace sandgate::test {
namespace {

double processor_ms() {
  timespec spent;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) * 1e3 + static_cast<double>(spent.tv_nsec) / 1e6;
}

double spent_on_create(LiveLoop& loop, Provider& provider, const std::string& image) {
  CreateSpec spec;
  spec.sandbox_id = SandboxId::make().value;
  spec.installation = "0123456789abcdef";
  spec.image = image;
  spec.network.fallback = NetworkDefault::allow;
  const double before = processor_ms();
  const BackendSandbox made = loop.run(provider.create(std::move(spec)));
  const double spent = processor_ms() - before;
  loop.run(provider.kill(made.backend_id));
  return spent;
}

double measure(const VendorLine& line, const char* starts_in, int creates) {
  ::setenv("SANDGATE_FAKES_START_IN", starts_in, 1);
  LiveLoop loop;
  Vendor vendor(line, loop.executor());
  spent_on_create(loop, vendor.provider(), line.image);  // connections are there from now on
  double spent = 0;
  for (int i = 0; i < creates; ++i) spent += spent_on_create(loop, vendor.provider(), line.image);
  return spent / creates;
}

}  // namespace
}  // namespace sandgate::test

int main(int argc, char** argv) {
  using namespace sandgate::test;
  const int creates = argc > 1 ? std::atoi(argv[1]) : 50;
  sandgate::Json costs;
  for (const VendorLine& line : vendor_lines())
    costs[line.name] = {{"there", measure(line, "0", creates)},
                        {"starting", measure(line, "0.25", creates)}};
  std::cout << costs << "\n";
}
