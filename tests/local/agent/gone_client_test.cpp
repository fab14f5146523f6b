#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "gateway/core/fd.hpp"
#include "gateway/core/json_reader.hpp"
#include "local/agent/files/archive.hpp"
#include "local/agent/files/file_path.hpp"
#include "local/agent/files/file_read.hpp"
#include "local/agent/files/file_session.hpp"
#include "tests/support/run.hpp"

namespace sandgate::agent {
namespace {

// Deeper than an archive's paths may be, and with more text than a list may have.
constexpr int kDepth = 17;
constexpr int kFiles = 4000;

void make_deep_tree(const std::string& top) {
  const std::string name(250, 'd');
  Fd at(::open(top.c_str(), O_PATH | O_DIRECTORY));
  for (int i = 0; i < kDepth; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), name.c_str(), 0700), 0);
    at = Fd(::openat(at.get(), name.c_str(), O_PATH | O_DIRECTORY));
  }
  for (int i = 0; i < kFiles; ++i)
    Fd(::openat(at.get(), std::to_string(i).c_str(), O_WRONLY | O_CREAT, 0600));
}

using Operation = void (*)(FileSession&, FileRequest&);

// What the operation throws, for a client that is there or that has left.
std::string refusal_of(Operation operation, const std::string& path, bool is_there) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return "no sockets";
  const Fd own(ends[0]);
  Fd client(ends[1]);
  if (!is_there) client.reset();
  FileSession session(own.get(), FrameParser());
  const Json document{{"path", path}, {"depth", kDepth + 1}};
  Problems problems;
  ObjectReader reader(document, problems);
  if (operation == read_archive) reader.integer("depth", 0, INT32_MAX);
  FileRequest request{reader, problems, "/"};
  try {
    operation(session, request);
  } catch (const Error& error) {
    return std::string(to_string(error.code));
  }
  return "none";
}

// A worker that looked through the whole tree first would find the tree too large.
TEST(GoneClient, EndsAListOrAnArchiveThatIsStillLookedFor) {
  const test::TempDirectory directory;
  make_deep_tree(directory.path());
  for (const Operation operation : {list_files, read_archive}) {
    EXPECT_EQ(refusal_of(operation, directory.path(), true), "too_large");
    EXPECT_EQ(refusal_of(operation, directory.path(), false), "unavailable");
  }
}

}  // namespace
}  // namespace sandgate::agent
