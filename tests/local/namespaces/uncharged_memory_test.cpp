// Kernel memory that a sandbox could hold although no control group counts it.
#include "tests/local/namespaces/sandbox_fixture.hpp"
#include "tests/local/namespaces/weak_node.hpp"

namespace sandgate::test {
namespace {

class UnchargedMemoryTest : public SandboxTest {
 protected:
  static void TearDownTestSuite() {
    delete weak_;
    weak_ = nullptr;
    SandboxTest::TearDownTestSuite();
  }
  // What a program prints in a sandbox without the filter.
  static std::string unfiltered(const std::string& program) {
    if (weak_ == nullptr) weak_ = new WeakNode;
    return weak_->node().python(weak_->without("seccomp"), program).out;
  }

 private:
  static WeakNode* weak_;
};

WeakNode* UnchargedMemoryTest::weak_ = nullptr;

// Files in memory keep access control lists of up to 64 KiB; an attribute of any name and any file
// is held to the same length.
TEST_F(UnchargedMemoryTest, AttributesOfFilesAreShort) {
  const std::string attempts =
      "import errno, os\n"
      "path = '/tmp/with-attributes'\n"
      "file = os.open(path, os.O_CREAT | os.O_RDWR)\n"
      "def tried(size, place, **how):\n"
      "    try: os.setxattr(place, 'user.note', bytes(size), **how)\n"
      "    except OSError as error: return errno.errorcode[error.errno]\n"
      "    return 'set'\n"
      "for size in (1000, 1001):\n"
      "    print(tried(size, path), tried(size, path, follow_symlinks=False), tried(size, file))\n";
  EXPECT_EQ(python(attempts).out, "set set set\nENOSPC ENOSPC ENOSPC\n");
  EXPECT_EQ(unfiltered(attempts), "set set set\nset set set\n") << "the control";
}

}  // namespace
}  // namespace sandgate::test
