#include "gateway/compat/e2b/link_targets.hpp"

#include <gtest/gtest.h>

#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate::compat::e2b {
namespace {

FileEntry link_to(std::string path, std::string target) {
  return {.path = std::move(path),
          .type = FileType::symlink,
          .mode = 0777,
          .target = std::move(target)};
}

// Knows the files that it is given, and counts how often it is asked.
class Tree : public Provider {
 public:
  Descriptor descriptor() const override { return {}; }
  Task<BackendSandbox> create(CreateSpec) override { co_return BackendSandbox(); }
  Task<std::optional<BackendSandbox>> find(std::string) override { co_return std::nullopt; }
  Task<std::optional<BackendSandbox>> find_by_tag(std::string) override { co_return std::nullopt; }
  Task<std::vector<BackendSandbox>> list() override { co_return std::vector<BackendSandbox>(); }
  Task<void> kill(std::string) override { co_return; }
  Task<FileEntry> stat(std::string, std::string path) override {
    ++asked;
    if (failure) throw *failure;
    for (const FileEntry& entry : files)
      if (entry.path == path) co_return entry;
    throw Error::not_found("file", path);
  }

  std::vector<FileEntry> files;
  std::optional<Error> failure;
  int asked = 0;
};

struct LinkTargetsTest : testing::Test {
  std::vector<std::optional<LinkTarget>> ends_of(const std::vector<FileEntry>& entries) {
    const OpenSandbox box{.provider = tree};
    return test::run(link_targets(box, entries));
  }
  std::optional<LinkTarget> target_at(std::string path) {
    const OpenSandbox box{.provider = tree};
    return test::run(target_of(box, std::move(path)));
  }

  const std::shared_ptr<Tree> tree = std::make_shared<Tree>();
};

TEST_F(LinkTargetsTest, AreFoundThroughOtherLinks) {
  const FileEntry file{.path = "/d/f", .type = FileType::file, .mode = 0640};
  const FileEntry folder{.path = "/d", .type = FileType::directory, .mode = 0755};
  const FileEntry near = link_to("/d/near", "f"), far = link_to("/far", "d/near");
  tree->files = {file, folder, near, far};
  const auto ends = ends_of({file, near, far, link_to("/way", "/d")});
  ASSERT_EQ(ends.size(), 4u);
  EXPECT_FALSE(ends[0]);
  for (const size_t i : {1, 2}) {
    EXPECT_EQ(ends[i]->path, "/d/f") << i;
    EXPECT_EQ(ends[i]->type, FileType::file) << i;
    EXPECT_EQ(ends[i]->mode, 0640u) << i;
  }
  EXPECT_EQ(ends[3]->type, FileType::directory);
  const Json shown = entry_json(far, ends[2]);
  EXPECT_EQ(shown["type"], "FILE_TYPE_FILE");
  EXPECT_EQ(shown["mode"], 0640);
  EXPECT_EQ(shown["symlinkTarget"], "/d/f");
  EXPECT_EQ(shown["permissions"], "Lrwxrwxrwx");
}

TEST_F(LinkTargetsTest, AreTheLinksThemselvesWhereThereIsNothing) {
  const FileEntry loop = link_to("/loop", "loop"), lost = link_to("/lost", "nowhere");
  tree->files = {loop, lost};
  for (const auto& end : ends_of({loop, lost})) {
    EXPECT_EQ(end->type, FileType::other);
    EXPECT_EQ(end->mode, 0u);
  }
  EXPECT_EQ(ends_of({lost})[0]->path, "/lost");
}

TEST_F(LinkTargetsTest, AreAskedForWithinBounds) {
  std::vector<FileEntry> many(2 * kMaxLinks, link_to("/l", "f"));
  tree->files = {{.path = "/f"}};
  const auto ends = ends_of(many);
  EXPECT_EQ(tree->asked, static_cast<int>(kMaxLinks));
  EXPECT_TRUE(ends[kMaxLinks - 1]);
  EXPECT_FALSE(ends[kMaxLinks]);
  EXPECT_EQ(entry_json(many[kMaxLinks], ends[kMaxLinks])["type"], "FILE_TYPE_SYMLINK");
}

TEST_F(LinkTargetsTest, OfAPathAreWhatIsThere) {
  tree->files = {{.path = "/f", .type = FileType::file, .mode = 0600},
                 link_to("/l", "f"),
                 link_to("/lost", "nowhere")};
  for (const char* path : {"/f", "/l"}) {
    const auto end = target_at(path);
    ASSERT_TRUE(end) << path;
    EXPECT_EQ(end->type, FileType::file) << path;
    EXPECT_EQ(end->mode, 0600u) << path;
  }
  EXPECT_EQ(target_at("/lost")->type, FileType::other);
  EXPECT_FALSE(target_at("/nothing"));
}

TEST_F(LinkTargetsTest, AreNotGuessedWhenTheBackendFails) {
  tree->failure = Error(ErrorCode::unavailable, "it is away");
  EXPECT_EQ(test::code_of([&] { target_at("/f"); }), ErrorCode::unavailable);
  const auto code = test::code_of([&] { ends_of({link_to("/l", "f")}); });
  EXPECT_EQ(code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace sandgate::compat::e2b
