#include "local/node/machine/module_requests.hpp"

#include <linux/btf.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "local/node/machine/kernel_function.hpp"

namespace sandgate {
namespace {

constexpr uid_t kInside = 3'999'000'001;
constexpr const char* kFile = "/tmp/sandgate-odd-format";

// Type information of an array, a structure of two members and the function "asked".
std::string small_btf(uint32_t kind_of_last = BTF_KIND_FUNC) {
  const std::string names("\0other\0asked\0", 13);
  const auto info = [](uint32_t kind, uint32_t members) { return kind << 24 | members; };
  const std::vector<uint32_t> types = {0, info(BTF_KIND_ARRAY, 0),  0, 0, 0, 0,  //
                                       1, info(BTF_KIND_STRUCT, 2), 8, 0, 0, 0, 0, 0, 0,
                                       7, info(kind_of_last, 0),    0};
  const auto size = static_cast<uint32_t>(types.size() * 4);
  const btf_header header{BTF_MAGIC, 1, 0, sizeof(btf_header), 0, size, size, 13};
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
         std::string(reinterpret_cast<const char*>(types.data()), size) + names;
}

TEST(ModuleRequestsTest, AFunctionIsFoundByItsName) {
  EXPECT_EQ(btf_function(small_btf(), "asked"), 3u);
  EXPECT_EQ(btf_function(small_btf(), "aske"), 0u);
  EXPECT_EQ(btf_function(small_btf(), "other"), 0u) << "a structure";
}

TEST(ModuleRequestsTest, MalformedTypesHaveNoFunctions) {
  constexpr uint32_t kUnknownKind = 31;
  EXPECT_EQ(btf_function(small_btf(kUnknownKind), "asked"), 0u);
  const std::string whole = small_btf();
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(btf_function(whole.substr(0, size), "asked"), 0u) << size;
}

// How long it takes an account to be told ten times that a file is no program.
std::chrono::steady_clock::duration time_of_attempts(uid_t uid) {
  const auto begin = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    int as_expected = setuid(uid) == 0;
    char* words[] = {const_cast<char*>(kFile), nullptr};
    for (int i = 0; i < 10; ++i) as_expected &= execv(kFile, words) == -1 && errno == ENOEXEC;
    _exit(as_expected ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  return std::chrono::steady_clock::now() - begin;
}

// Whether the kernel has run a program meanwhile is seen by the time.
TEST(ModuleRequestsTest, OnlyOthersMakeTheKernelLookForModules) {
  const ProbeResult probe = probe_module_requests();
  if (probe.detail != "none of sandboxes while a node runs") GTEST_SKIP() << probe.detail;
  std::ofstream(kFile) << "\1\2\3\4";
  chmod(kFile, 0755);
  Fd refusing = refuse_module_requests(kInside - 1, kInside);
  EXPECT_LT(time_of_attempts(kInside) * 3, time_of_attempts(kInside + 1));
  refusing.reset();
  EXPECT_LT(time_of_attempts(kInside + 1), time_of_attempts(kInside) * 3);
  unlink(kFile);
}

}  // namespace
}  // namespace sandgate
