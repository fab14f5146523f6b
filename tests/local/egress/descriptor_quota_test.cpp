#include "local/egress/descriptor_quota.hpp"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <functional>

namespace sandgate::egress {
namespace {

// How many connections the tenant gets when it takes all that it is given.
size_t take_all(DescriptorQuota& quota, const std::string& tenant) {
  size_t taken = 0;
  for (; quota.can_connect(tenant); ++taken) quota.add_connection(tenant);
  return taken;
}

// Whether this process may exceed hard limits; root of a container may not.
bool may_exceed_limits() {
  std::ifstream status("/proc/self/status");
  for (std::string name; status >> name;) {
    uint64_t held = 0;
    if (name == "CapEff:" && status >> std::hex >> held) return (held >> CAP_SYS_RESOURCE & 1) != 0;
  }
  return false;
}

// What `work` says in a process of its own, which may have `soft` and at most `hard` descriptors.
rlim_t with_limit(rlim_t soft, rlim_t hard, const std::function<rlim_t()>& work) {
  std::array<int, 2> ends{};
  EXPECT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    const rlimit files{soft, hard};
    rlim_t said = 0;
    if (setrlimit(RLIMIT_NOFILE, &files) == 0) said = work();
    (void)!write(ends[1], &said, sizeof said);
    _exit(0);
  }
  close(ends[1]);
  rlim_t said = 0;
  EXPECT_EQ(read(ends[0], &said, sizeof said), static_cast<ssize_t>(sizeof said));
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return said;
}

rlim_t limit_in_force() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  return files.rlim_cur;
}

TEST(DescriptorQuota, KeepsAReserve) {
  EXPECT_EQ(DescriptorQuota(20'000).connections(), (20'000u - 1024) / 2);
  EXPECT_EQ(DescriptorQuota(1024).connections(), (1024u - 256) / 2);
  EXPECT_EQ(DescriptorQuota(0).connections(), 0u);
}

TEST(DescriptorQuota, ATenantHoldsAsManyAsItLeaves) {
  DescriptorQuota quota(20'000);
  const size_t all = quota.connections();
  EXPECT_EQ(take_all(quota, "a"), all / 2);
  EXPECT_EQ(take_all(quota, "b"), all / 4);
  EXPECT_EQ(take_all(quota, "c"), all / 8);
  EXPECT_TRUE(quota.can_connect("d"));
}

TEST(DescriptorQuota, GivesBack) {
  DescriptorQuota quota(20'000);
  const size_t half = take_all(quota, "a");
  take_all(quota, "b");
  for (size_t i = 0; i < half; ++i) quota.remove_connection("a");
  EXPECT_GT(take_all(quota, "b"), 0u);
  EXPECT_TRUE(quota.can_connect("a"));
}

TEST(DescriptorQuota, ListenersGoFirst) {
  DescriptorQuota quota(1024);  // 768 without the reserve
  for (int i = 0; i < 100; ++i) quota.add_listeners();
  EXPECT_EQ(quota.connections(), (768u - 400) / 2);
  for (int i = 0; i < 100; ++i) quota.add_listeners();
  EXPECT_FALSE(quota.can_connect("a"));
  for (int i = 0; i < 200; ++i) quota.remove_listeners();
  EXPECT_EQ(quota.connections(), 768u / 2);
}

TEST(DescriptorLimit, IsWhatTheMachineAllows) {
  rlim_t machine = 0;
  std::ifstream("/proc/sys/fs/nr_open") >> machine;
  const auto raise = [] {
    const rlim_t said = raise_descriptor_limit(kMaxDescriptors);
    return said == limit_in_force() ? said : 0;
  };
  const rlim_t got = with_limit(256, 512, raise);
  EXPECT_EQ(got, may_exceed_limits() ? std::min<rlim_t>(machine, kMaxDescriptors) : 512);
}

TEST(DescriptorLimit, IsTheHardLimitForOrdinaryAccounts) {
  const auto raise_as_nobody = []() -> rlim_t {
    if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) return 0;
    raise_descriptor_limit(kMaxDescriptors);
    return limit_in_force();
  };
  EXPECT_EQ(with_limit(256, 512, raise_as_nobody), 512u);
}

TEST(DescriptorLimit, IsNoMoreThanAskedFor) {
  EXPECT_EQ(with_limit(256, 512, [] { return raise_descriptor_limit(300); }), 300u);
}

}  // namespace
}  // namespace sandgate::egress
