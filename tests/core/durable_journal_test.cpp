#include "gateway/core/durable_journal.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>
#include <thread>

#include "tests/support/run.hpp"

namespace sandgate {
namespace {

using test::run;

class JournalTest : public ::testing::Test {
 protected:
  std::unique_ptr<DurableJournal> open(size_t max_bytes = 1 << 20) {
    return std::make_unique<DurableJournal>(DurableJournal::Options{path, max_bytes});
  }
  std::vector<std::string> payloads(const DurableJournal& journal) {
    std::vector<std::string> texts;
    for (const auto& record : journal.pending(1000)) texts.push_back(record.payload);
    return texts;
  }
  void flip(size_t at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const int before = file.get();
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(before ^ 0x55));
  }

  test::TempDirectory directory;
  std::string path = directory.path() + "/journal";
};

using Texts = std::vector<std::string>;

TEST_F(JournalTest, KeepsRecordsInOrderOverARestart) {
  auto journal = open();
  const std::string id = journal->id();
  for (const char* text : {"one", "", "three"}) run(journal->append(text));
  journal.reset();
  journal = open();
  EXPECT_EQ(journal->id(), id);
  EXPECT_EQ(payloads(*journal), (Texts{"one", "", "three"}));
  run(journal->append("four"));
  EXPECT_EQ(journal->pending(10).back().sequence, 4u);
}

TEST_F(JournalTest, CutsOffATornTailAtEveryByte) {
  run(open()->append("kept"));
  const auto whole = std::filesystem::file_size(path);
  run(open()->append("torn"));
  const auto both = std::filesystem::file_size(path);
  for (size_t cut_off = 1; cut_off < both - whole; ++cut_off) {
    const std::string copy = path + ".copy";
    std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(copy, both - cut_off);
    EXPECT_TRUE(DurableJournal::inspect(copy)->torn);
    DurableJournal journal({copy});
    EXPECT_EQ(payloads(journal), Texts{"kept"}) << cut_off << " bytes cut off";
    run(journal.append("after"));
    EXPECT_EQ(payloads(journal), (Texts{"kept", "after"}));
    EXPECT_FALSE(DurableJournal::inspect(copy)->torn);
  }
}

TEST_F(JournalTest, WhatIsDamagedCostsNoOtherRecord) {
  run(open()->append("first"));
  const auto one = std::filesystem::file_size(path);
  run(open()->append("second"));
  const auto two = std::filesystem::file_size(path);
  run(open()->append("third"));
  std::filesystem::copy_file(path, path + ".good");
  for (auto at = one; at < two; ++at) {
    std::filesystem::copy_file(path + ".good", path,
                               std::filesystem::copy_options::overwrite_existing);
    flip(at);
    EXPECT_EQ(DurableJournal::inspect(path)->damaged, 1u);
    const auto journal = open();
    EXPECT_EQ(payloads(*journal), (Texts{"first", "third"})) << "byte " << at;
    EXPECT_EQ(journal->damaged(), 1u);
    EXPECT_EQ(std::filesystem::file_size(path + ".damaged"), std::filesystem::file_size(path));
    run(journal->append("fourth"));
    EXPECT_EQ(journal->pending(9).back().sequence, 4u);
  }
}

TEST_F(JournalTest, NoSequenceOfADamagedRecordIsUsedAgain) {
  run(open()->append("first"));
  run(open()->append("second"));
  flip(std::filesystem::file_size(path) - 1);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(payloads(*open()), Texts{"first"});
  run(open()->append("third"));
  const auto journal = open();
  EXPECT_EQ(payloads(*journal), (Texts{"first", "third"}));
  EXPECT_GT(journal->pending(9).back().sequence, 2u);
  run(journal->trim(journal->pending(9).back().sequence));
  EXPECT_EQ(open()->damaged(), 0u) << "a new file";
}

TEST_F(JournalTest, OneWithoutAGoodRecordBeginsAnew) {
  const auto journal = open();
  const std::string id = journal->id();
  run(journal->append("only"));
  flip(std::filesystem::file_size(path) - 1);
  const auto again = open();
  EXPECT_NE(again->id(), id);
  EXPECT_EQ(again->damaged(), 1u);
  EXPECT_EQ(again->records(), 0u);
  EXPECT_EQ(DurableJournal::inspect(path + ".damaged")->damaged, 1u);
}

TEST_F(JournalTest, IsBounded) {
  auto journal = open(200);
  run(journal->append(std::string(100, 'x')));
  EXPECT_THROW(run(journal->append(std::string(100, 'x'))), Error);
  EXPECT_EQ(journal->records(), 1u);
  run(journal->trim(1));
  run(journal->append(std::string(100, 'x')));
}

TEST_F(JournalTest, WhatCouldNotBeWrittenIsTakenBackWhole) {
  auto journal = open();
  run(journal->append("one"));
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit full{std::filesystem::file_size(path) + 50, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &full);
  EXPECT_THROW(run(journal->append(std::string(100, 'x'))), Error);
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, before);
  run(journal->append("two"));
  journal.reset();
  EXPECT_EQ(payloads(*open()), (Texts{"one", "two"}));
}

TEST_F(JournalTest, EachOfManyAppendsLearnsWhatBecameOfItsRecord) {
  auto journal = open();
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  asio::thread_pool pool(4);
  std::mutex mutex;
  std::set<std::string> acknowledged;
  std::atomic<int> left{1000}, refused{0};
  const auto append = [&](int i) -> Task<void> {
    const auto outcome = co_await attempt(journal->append(std::to_string(i)));
    --left;
    if (std::holds_alternative<Error>(outcome)) ++refused;
    const std::lock_guard lock(mutex);
    if (!std::holds_alternative<Error>(outcome)) acknowledged.insert(std::to_string(i));
  };
  const auto fill_disk = [&] {
    const rlimit full{std::filesystem::file_size(path), limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &full);
  };
  // The disk is full now and then, and from the beginning until somebody noticed.
  fill_disk();
  for (int i = 0; i < 1000; ++i) asio::co_spawn(pool, append(i), asio::detached);
  while (left > 0) {
    do std::this_thread::yield();
    while (refused == 0 && left > 0);
    setrlimit(RLIMIT_FSIZE, &limit);
    std::this_thread::yield();
    fill_disk();
  }
  setrlimit(RLIMIT_FSIZE, &limit);
  pool.join();
  std::signal(SIGXFSZ, before);
  EXPECT_GT(refused, 0);
  journal.reset();
  const Texts kept = payloads(*open());
  EXPECT_EQ(std::set<std::string>(kept.begin(), kept.end()), acknowledged);
}

TEST_F(JournalTest, ForgettingAllStartsOverUnderAnotherName) {
  auto journal = open();
  const std::string id = journal->id();
  run(journal->append("one"));
  run(journal->append("two"));
  run(journal->trim(1));
  EXPECT_EQ(payloads(*journal), Texts{"two"});
  EXPECT_EQ(journal->id(), id);
  run(journal->trim(2));
  EXPECT_NE(journal->id(), id);
  EXPECT_EQ(DurableJournal::inspect(path)->records, 0u);
  run(journal->append("three"));
  EXPECT_EQ(journal->pending(1)[0].sequence, 1u);
}

TEST_F(JournalTest, IsNotFooledByAnotherFile) {
  std::ofstream(path) << "something else entirely, and long enough to hold a header of ours";
  EXPECT_THROW(open(), Error);
  EXPECT_FALSE(DurableJournal::inspect(directory.path() + "/none"));
}

TEST_F(JournalTest, ManyAppendAtOnce) {
  auto journal = open();
  asio::thread_pool pool(4);
  std::atomic<int> done{0};
  for (int i = 0; i < 500; ++i)
    asio::co_spawn(
        pool,
        [&journal, &done, i]() -> Task<void> {
          co_await journal->append(std::to_string(i));
          ++done;
        },
        asio::detached);
  pool.join();
  EXPECT_EQ(done, 500);
  journal.reset();
  EXPECT_EQ(open()->records(), 500u);
}

}  // namespace
}  // namespace sandgate
