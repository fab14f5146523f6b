#include "local/image/store.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <atomic>
#include <barrier>
#include <filesystem>
#include <fstream>
#include <thread>

#include "local/image/draft.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

TEST(ImageStoreTest, WithoutDescriptorsNothingIsTakenForMissing) {
  const TempDirectory directory;
  const ImageStore store(directory.path());
  const auto read = [&] { return code_of([&] { store.read("debian-12"); }); };
  EXPECT_EQ(read(), ErrorCode::not_found);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto code = read();
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(code, ErrorCode::no_capacity);
}

class ImageStoreTreeTest : public ::testing::Test {
 protected:
  // Adds an image of a file with this text.
  void add(const std::string& name, const std::string& text) {
    const Draft draft(store_);
    fs::create_directory(draft.below("tree"));
    std::ofstream(draft.below("tree") + "/file") << text;
    ImageInfo info;
    info.name = name;
    store_.add(info, draft.below("tree"));
  }
  ImageStore& store() { return store_; }
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  size_t trees() const { return entries("trees"); }
  size_t drafts() const { return entries("drafts"); }

 private:
  size_t entries(const std::string& part) const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(directory_.path() + "/" + part),
                                             fs::directory_iterator()));
  }

  const TempDirectory directory_;
  ImageStore store_{directory_.path()};
};

TEST_F(ImageStoreTreeTest, ManyMayAddTheSameAtOnce) {
  constexpr int kThreads = 8;
  std::barrier start(kThreads);
  std::atomic<int> failed{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i)
      threads.emplace_back([&] {
        start.arrive_and_wait();
        try {
          add("same", "text");
        } catch (const std::exception&) {
          ++failed;
        }
      });
  }
  EXPECT_EQ(failed, 0);
  EXPECT_TRUE(store().verify("same"));
  EXPECT_EQ(trees(), 1u);
  EXPECT_EQ(drafts(), 0u);
}

TEST_F(ImageStoreTreeTest, WhatIsAddedAgainIsNotCollected) {
  std::jthread collector([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) store().collect([] { return std::set<std::string>(); });
  });
  for (int i = 0; i < 30; ++i) {
    add("one", "text");
    EXPECT_TRUE(store().verify("one"));
    store().remove("one");
  }
}

TEST_F(ImageStoreTreeTest, DraftsGoWithWhoMadeThem) {
  const auto age = [](const std::string& path) {
    const timespec times[2] = {{0, UTIME_OMIT}, {time(nullptr) - 120, 0}};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  };
  store().make_draft();
  age(store().make_draft());
  const Draft held(store());
  age(held.below(""));
  store().collect_drafts();
  EXPECT_EQ(drafts(), 2u) << "one is new, and one is held";
  EXPECT_TRUE(fs::exists(held.below("")));
}

// As with a damaged disk, or without descriptors.
TEST_F(ImageStoreTreeTest, TheTreeOfANameThatCannotBeReadStays) {
  add("one", "text");
  fs::remove(path("names/one"));
  fs::create_symlink("one", path("names/one"));
  EXPECT_EQ(store().broken(), std::vector<std::string>{"one"});
  EXPECT_TRUE(store().collect([] { return std::set<std::string>(); }).empty());
  store().remove("one");
  EXPECT_EQ(store().collect([] { return std::set<std::string>(); }).size(), 1u);
}

}  // namespace
}  // namespace sandgate::test
