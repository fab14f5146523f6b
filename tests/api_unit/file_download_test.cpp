#include "gateway/api/file_download.hpp"

#include <gtest/gtest.h>

#include "gateway/api/file_conditions.hpp"
#include "providers/provider.hpp"
#include "tests/support/run.hpp"

// Downloads of a file that changes between two readings of one request.
namespace sandgate::test {
namespace {

struct ChangingFile : Provider {
  explicit ChangingFile(std::vector<std::string> contents) : versions(std::move(contents)) {}

  FileEntry entry_of(size_t version) const {
    return {.name = "n",
            .path = "/n",
            .size = versions[version].size(),
            .revision = std::to_string(version)};
  }
  std::string tag_of(size_t version) const { return api::entity_tag(entry_of(version)); }

  Task<FileContent> read_file(std::string, std::string, ByteRange range) override {
    const size_t version = std::min(readings++, versions.size() - 1);
    const std::string& text = versions[version];
    const size_t first = std::min<size_t>(range.first, text.size());
    FileContent content{entry_of(version), nullptr};
    content.bytes = std::make_unique<TextBytes>(text.substr(first, range.size_limit()));
    co_return content;
  }

  Descriptor descriptor() const override { return {}; }
  Task<BackendSandbox> create(CreateSpec) override { throw std::logic_error("not asked"); }
  Task<std::optional<BackendSandbox>> find(std::string) override { co_return std::nullopt; }
  Task<std::optional<BackendSandbox>> find_by_tag(std::string) override { co_return std::nullopt; }
  Task<std::vector<BackendSandbox>> list() override { co_return std::vector<BackendSandbox>(); }
  Task<void> kill(std::string) override { co_return; }

  const std::vector<std::string> versions;
  size_t readings = 0;
};

struct TakenBytes : http::BodySink {
  Task<void> write(std::span<const char> bytes) override {
    text.append(bytes.data(), bytes.size());
    co_return;
  }
  std::string text;
};

struct Downloaded {
  int status = 0;
  std::string tag, range, body;
};

Downloaded get_of(const std::shared_ptr<ChangingFile>& file, http::Headers headers) {
  http::Request request;
  request.method = http::Method::get;
  request.headers = std::move(headers);
  OpenSandbox box;
  box.provider = file;
  const http::Response response = run(api::download(box, request, "n"));
  Downloaded got{.status = response.status};
  for (const auto& [name, value] : response.headers) {
    if (name == "ETag") got.tag = value;
    if (name == "Content-Range") got.range = value;
  }
  TakenBytes taken;
  run(std::get<http::StreamBody>(response.body).produce(taken));
  got.body = taken.text;
  return got;
}

http::Headers asking_for(std::string range, std::string if_range = "") {
  http::Headers headers;
  headers.add("Range", std::move(range));
  if (!if_range.empty()) headers.add("If-Range", std::move(if_range));
  return headers;
}

TEST(FileDownload, ALastPartHasTheTagOfItsBytes) {
  const auto file = std::make_shared<ChangingFile>(std::vector<std::string>{"0123456", "abcdefgh"});
  const Downloaded got = get_of(file, asking_for("bytes=-3"));
  EXPECT_EQ(got.status, 206);
  EXPECT_EQ(got.body, "efg");
  EXPECT_EQ(got.range, "bytes 4-6/8");
  EXPECT_EQ(got.tag, file->tag_of(1));
}

TEST(FileDownload, AFileThatIsAnotherByNowHasTheTagOfItsBytes) {
  const auto file = std::make_shared<ChangingFile>(std::vector<std::string>{"0123", "abcdefgh"});
  const Downloaded got = get_of(file, asking_for("bytes=0-0", "\"another\""));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "abcdefgh");
  EXPECT_EQ(got.tag, file->tag_of(1));
}

TEST(FileDownload, NoPartOfAnotherVersionIsSent) {
  const auto file = std::make_shared<ChangingFile>(std::vector<std::string>{"0123", "abcdefgh"});
  const Downloaded got = get_of(file, asking_for("bytes=-3", file->tag_of(0)));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "abcdefgh");
}

TEST(FileDownload, AFileThatBecameShorterIsSentWhole) {
  const auto file = std::make_shared<ChangingFile>(std::vector<std::string>{"0123456789", "ab"});
  const Downloaded got = get_of(file, asking_for("bytes=-3"));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "ab");
  EXPECT_EQ(got.tag, file->tag_of(1));
}

}  // namespace
}  // namespace sandgate::test
