#include <set>

#include "gateway/core/ids.hpp"
#include "tests/contract/provider_contract.hpp"

// The lines of the contract on a sandbox in which much was started.
namespace sandgate::test {
namespace {

constexpr size_t kMoreThanAPage = 105;

TEST_P(BackgroundContract, EveryProcessIsListedAndFound) {
  const std::string id = box_.backend_id;
  for (size_t count = 0; count < kMoreThanAPage; ++count) command({.argv = {"true"}});
  std::set<std::string> listed;
  ProcessInfo last;
  for (const auto& process : loop_.run(provider().processes(id))) {
    listed.insert(process.id);
    if (process.started_at >= last.started_at) last = process;
  }
  EXPECT_EQ(listed.size(), kMoreThanAPage);
  const ProcessInfo found = loop_.run(provider().process(id, last.id));
  EXPECT_EQ(found.id, last.id);
  EXPECT_EQ(found.state, ProcessState::exited);
  EXPECT_EQ(code_of(provider().process(id, ProcessId::make().value)), ErrorCode::not_found);
}

}  // namespace
}  // namespace sandgate::test
