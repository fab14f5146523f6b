#include "local/node/storage/snapshot_store.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "local/namespaces/step_error.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

class SnapshotStoreTest : public ::testing::Test {
 protected:
  SnapshotStoreTest() {
    std::ofstream(directory_.path() + "/disk") << "content";
    disk_ = Fd(open((directory_.path() + "/disk").c_str(), O_RDONLY | O_CLOEXEC));
  }
  StoredSnapshot add(
      SnapshotStore& store, std::string id, const std::function<void()>& copied = [] {}) {
    return store.add(
        {.id = std::move(id)}, disk_.get(), /*lasting=*/false, [] {}, copied);
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(place_))
      names.insert(entry.path().filename().string());
    return names;
  }
  void put(const std::string& name) { std::ofstream(place_ + "/" + name) << "half"; }

  TempDirectory directory_;
  const std::string place_ = directory_.path() + "/snapshots";
  Fd disk_;
};

TEST_F(SnapshotStoreTest, WhatIsRemovedWhileItIsMadeIsGone) {
  SnapshotStore store(place_);
  EXPECT_EQ(code_of([&] { add(store, "sn1", [&] { store.remove("sn1"); }); }), ErrorCode::conflict);
  EXPECT_FALSE(store.find("sn1"));
  EXPECT_TRUE(files().empty());
}

// A directory in the place of a file cannot be unlinked, by root either.
TEST_F(SnapshotStoreTest, WhatCannotBeRemovedIsNotTakenForRemoved) {
  SnapshotStore store(place_);
  for (const std::string half : {"/sn1.img", "/sn1.json"}) {
    add(store, "sn1");
    std::filesystem::remove(place_ + half);
    std::filesystem::create_directory(place_ + half);
    EXPECT_THROW(store.remove("sn1"), StepError) << half;
    std::filesystem::remove(place_ + half);
    store.remove("sn1");
    EXPECT_TRUE(files().empty()) << half;
  }
}

TEST_F(SnapshotStoreTest, KnowsWhatIsBeingMade) {
  SnapshotStore store(place_);
  bool begun = false, found = true;
  add(store, "sn1", [&] {
    begun = store.has_begun("sn1");
    found = store.find("sn1").has_value();
  });
  EXPECT_TRUE(begun);
  EXPECT_FALSE(found);
  EXPECT_TRUE(store.find("sn1"));
  store.remove("sn1");
  EXPECT_FALSE(store.has_begun("sn1"));
}

TEST_F(SnapshotStoreTest, RemovesWhatIsNotWhole) {
  {
    SnapshotStore store(place_);
    for (const char* id : {"whole", "imageless", "damaged"}) add(store, id);
  }
  std::filesystem::remove(place_ + "/imageless.img");
  put("damaged.json");
  put("nameless.img");
  put("unfinished.json.draft");
  const SnapshotStore store(place_);
  EXPECT_EQ(files(), (std::set<std::string>{"whole.img", "whole.json"}));
  EXPECT_EQ(store.list().size(), 1u);
}

// Calls it in a process that has no descriptor left.
bool fails_without_descriptors(const std::function<void()>& call) {
  rlimit before{};
  EXPECT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  bool failed = false;
  try {
    call();
  } catch (const StepError& failure) {
    failed = failure.number == EMFILE;
  } catch (const Error&) {
    // it was taken for missing
  }
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  return failed;
}

TEST_F(SnapshotStoreTest, WhatCannotBeOpenedNowIsNotMissing) {
  SnapshotStore store(place_);
  add(store, "sn1");
  EXPECT_TRUE(fails_without_descriptors([&] { store.find("sn1"); }));
  EXPECT_TRUE(fails_without_descriptors([&] { store.open("sn1"); }));
  EXPECT_EQ(code_of([&] { store.open("sn2"); }), ErrorCode::not_found);
  EXPECT_TRUE(store.open("sn1").image);
}

// As if descriptors were lacking while a store begins.
TEST_F(SnapshotStoreTest, RemovesNothingThatCannotBeOpened) {
  {
    SnapshotStore store(place_);
    add(store, "sn1");
  }
  const std::string document = place_ + "/sn1.json";
  std::filesystem::rename(document, place_ + "/aside");
  std::filesystem::create_symlink(document, document);
  EXPECT_THROW(SnapshotStore{place_}, StepError);
  EXPECT_THROW(snapshots_in(place_), StepError);
  std::filesystem::rename(place_ + "/aside", document);
  EXPECT_EQ(SnapshotStore(place_).list().size(), 1u);
}

}  // namespace
}  // namespace sandgate::test
