#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "local/fd.hpp"
#include "local/image/import.hpp"
#include "local/image/layer.hpp"
#include "local/image/run_in_chroot.hpp"
#include "tests/local/image/oci_builder.hpp"
#include "tests/support/code_of.hpp"
#include "tests/support/run.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

class ImportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "needs root: the root directory is changed to unpack";
  }
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  ImageStore& store() { return store_; }

  ImageInfo imported(const std::vector<std::string>& layers, const Json& config = Json::object()) {
    const std::string layout = path("layout" + std::to_string(++layouts_));
    write_layout(layout, layers, config);
    return import_image(store_, "probe", layout, [](std::string_view) {});
  }
  // What the refusal says; empty when there was none.
  std::string refusal(const std::vector<Member>& members) {
    try {
      imported({tar_of(members)});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  std::string tree(const ImageInfo& image) const {
    return path("store/trees/") + image.digest.substr(7);
  }
  static std::string text(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::string> collected(const std::set<std::string>& used = {}) {
    return store_.collect([&] { return used; });
  }
  bool nothing_left() const { return fs::is_empty(path("store/drafts")); }

 private:
  TempDirectory directory_;
  ImageStore store_{directory_.path() + "/store"};
  int layouts_ = 0;
};

TEST_F(ImportTest, LayersGoOverEachOther) {
  const std::string lower = tar_of({{"usr", Member::directory, "", 0755},
                                    {"usr/lib", Member::directory, "", 0755},
                                    {"lib", Member::symlink, "usr/lib"},
                                    {"usr/lib/a", Member::file, "a"},
                                    {"usr/lib/b", Member::file, "b"},
                                    {"usr/lib/c", Member::hardlink, "usr/lib/a"},
                                    {"old", Member::directory, "", 0755},
                                    {"old/gone", Member::file, "x"},
                                    {"owned", Member::file, "o", 04750, 7, 8}});
  const std::string upper = tar_of({{"usr/lib/.wh.b", Member::file, ""},
                                    {"old/new", Member::file, "n"},
                                    {"old/.wh..wh..opq", Member::file, ""},
                                    {"lib/through", Member::file, "t"},
                                    {"usr/lib/a", Member::file, "changed"}},
                                   true);
  const ImageInfo image = imported(
      {lower, upper}, {{"Env", {"A=1", "PATH=/x"}}, {"WorkingDir", "/srv/app"}, {"User", ""}});
  const std::string root = tree(image);
  EXPECT_EQ(text(root + "/usr/lib/a"), "changed");
  EXPECT_EQ(text(root + "/usr/lib/c"), "a");
  EXPECT_EQ(text(root + "/usr/lib/through"), "t");
  EXPECT_FALSE(fs::exists(root + "/usr/lib/b"));
  EXPECT_FALSE(fs::exists(root + "/old/gone"));
  EXPECT_EQ(text(root + "/old/new"), "n");
  struct stat status {};
  ASSERT_EQ(stat((root + "/owned").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 04750u);
  EXPECT_EQ(status.st_uid, 7u);
  EXPECT_EQ(status.st_gid, 8u);
  EXPECT_EQ(image.config.env.at("A"), "1");
  EXPECT_EQ(image.config.env.at("PATH"), "/x");
  EXPECT_EQ(image.config.workdir, "/srv/app");
  EXPECT_TRUE(fs::is_directory(root + "/srv/app"));
  EXPECT_EQ(image.config.uid, 1000u);
  EXPECT_NE(text(root + "/etc/passwd").find("user:x:1000:1000"), std::string::npos);
  EXPECT_TRUE(nothing_left());
}

TEST_F(ImportTest, AWhiteoutIsForWhatWasThereBefore) {
  const std::string layer = tar_of(
      {{"one-more", Member::file, ""}, {"one/in", Member::file, "1"}, {".wh.one", Member::file}});
  EXPECT_EQ(text(tree(imported({layer})) + "/one/in"), "1");
}

TEST_F(ImportTest, TheImagesOwnAccountIsTheDefault) {
  const std::string layer = tar_of(
      {{"etc/passwd", Member::file, "root:x:0:0::/root:/bin/sh\napp:x:1234:99::/app:/bin/sh\n"}});
  const ImageInfo named = imported({layer}, {{"User", "app"}});
  EXPECT_EQ(named.config.user, "app");
  EXPECT_EQ(named.config.uid, 1234u);
  EXPECT_EQ(named.config.gid, 99u);
  EXPECT_EQ(named.config.home, "/app");
  EXPECT_EQ(imported({layer}, {{"User", "1234:99"}}).config.user, "app");
  EXPECT_EQ(imported({layer}, {{"User", "4000"}}).config.uid, 4000u);
  EXPECT_EQ(imported({layer}, {{"User", "root"}}).config.uid, 1000u);
  EXPECT_THROW(imported({layer}, {{"User", "nobody-knows"}}), Error);
  EXPECT_THROW(imported({layer}, {{"User", "70000"}}), Error);
}

// Programs run as whom /etc/passwd says the name is, so the name has to be the account's own.
TEST_F(ImportTest, AccountsAreNotWaitedFor) {
  for (const Member& accounts :
       std::vector<Member>{{"etc/passwd", Member::pipe}, {"etc/passwd", Member::symlink, "pipe"}}) {
    const ImageInfo image =
        imported({tar_of({{"etc/pipe", Member::pipe}, accounts})}, {{"User", "1234"}});
    EXPECT_EQ(image.config.uid, 1234u);
  }
}

TEST_F(ImportTest, ListsOfAccountsMayBeLinks) {
  const std::string layer =
      tar_of({{"store/passwd", Member::file, "root:x:0:0::/root:/bin/sh\napp:x:7:7::/:\n"},
              {"store/group", Member::file, "root:x:0:\ndata:x:9:app\n"},
              {"etc/passwd", Member::symlink, "../store/passwd"},
              {"etc/group", Member::symlink, "/store/group"}});
  const std::string root = tree(imported({layer}, {{"User", "1234"}}));
  EXPECT_EQ(text(root + "/etc/passwd"),
            "root:x:0:0::/root:/bin/sh\napp:x:7:7::/:\n"
            "user:x:1234:1234::/home/user:/bin/bash\n");
  EXPECT_EQ(text(root + "/etc/group"), "root:x:0:\ndata:x:9:app\nuser:x:1234:\n");
  const std::string own = tree(imported({layer}, {{"User", "app"}}));
  EXPECT_TRUE(fs::is_symlink(own + "/etc/passwd")) << "nothing is to be added";
  EXPECT_THAT(text(own + "/etc/passwd"), testing::HasSubstr("root:x:0:0:"));
}

TEST_F(ImportTest, ListsOfAccountsAreShort) {
  Member huge{.name = "etc/passwd", .content = std::string(2 << 20, 'x')};
  EXPECT_THAT(refusal({huge}), testing::HasSubstr("passwd file is larger than 1 MiB"));
  huge.name = "etc/group";
  EXPECT_THAT(refusal({huge}), testing::HasSubstr("group file is larger than 1 MiB"));
}

TEST_F(ImportTest, ATreeMayNotTakeTheMachinesMemory) {
  const auto most = [this](size_t bytes) {
    return run_in_chroot(path(""), [bytes] {
      const std::unique_ptr<char[]> taken(new char[bytes]);
      return std::string(taken ? "taken" : "");
    });
  };
  EXPECT_EQ(most(100 << 20), "taken");
  EXPECT_EQ(code_of([&] { most(size_t{2} << 30); }), ErrorCode::invalid);
}

TEST_F(ImportTest, ANumberWithoutANameGetsOneThatIsFree) {
  const std::string layer = tar_of({{"etc/passwd", Member::file,
                                     "root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:\n"
                                     "user1234:x:77:77::/:\n"},
                                    {"home/user/own", Member::file, "o", 0644, 1000, 1000}});
  const ImageInfo image = imported({layer}, {{"User", "1234:1234"}, {"WorkingDir", "/srv/w"}});
  EXPECT_EQ(image.config.uid, 1234u);
  const std::string accounts = "\n" + text(tree(image) + "/etc/passwd");
  EXPECT_NE(accounts.find("\n" + image.config.user + ":x:1234:1234:"), std::string::npos)
      << accounts;
  EXPECT_EQ(accounts.find("\n" + image.config.user + ":"),
            accounts.rfind("\n" + image.config.user + ":"));
  const auto owner = [&](const std::string& file) {
    struct stat status {};
    EXPECT_EQ(stat((tree(image) + file).c_str(), &status), 0) << file;
    return status.st_uid;
  };
  EXPECT_EQ(owner("/srv/w"), 1234u);
  EXPECT_EQ(owner(image.config.home), 1234u);
  EXPECT_EQ(owner("/home/user/own"), 1000u) << "that is another's home";
  EXPECT_EQ(imported({layer}, {{"User", "4000"}}).config.user, "user4000");
}

TEST_F(ImportTest, AnAccountUserOfTheImageKeepsItsNumbers) {
  const std::string layer =
      tar_of({{"etc/passwd", Member::file,
               "root:x:0:0::/root:/bin/sh\nuser:x:1001:1002::/srv:/bin/sh\n"}});
  const ImageInfo image = imported({layer}, {{"User", "root"}});
  EXPECT_EQ(image.config.user, "user");
  EXPECT_EQ(image.config.uid, 1001u);
  EXPECT_EQ(image.config.gid, 1002u);
  EXPECT_EQ(image.config.home, "/srv");
}

TEST_F(ImportTest, NothingLeavesTheTree) {
  const std::string outside = path("outside");
  fs::create_directory(outside);
  std::ofstream(outside + "/file") << "safe";
  EXPECT_NE(refusal({{"../escaped", Member::file, "x"}}), "");
  EXPECT_NE(refusal({{"a/../../escaped", Member::file, "x"}}), "");
  EXPECT_NE(refusal({{"h", Member::hardlink, "../outside/file"}}), "");
  EXPECT_NE(refusal({{"h", Member::hardlink, outside + "/file"}}), "");
  EXPECT_NE(refusal({{"h", Member::hardlink, "/etc/shadow"}}), "");
  // A link that leads outside leads, from its own root, to a place inside.
  const ImageInfo image =
      imported({tar_of({{"up", Member::symlink, "../../../../../../.." + outside},
                        {"up/planted", Member::file, "bad"},
                        {"abs", Member::symlink, outside},
                        {"abs/file", Member::file, "bad"},
                        {"out", Member::symlink, outside + "/file"},
                        {"out", Member::file, "replaced"}})});
  EXPECT_EQ(fs::canonical(tree(image) + "/abs"), fs::canonical(outside)) << "the control";
  EXPECT_EQ(text(tree(image) + outside + "/planted"), "bad");
  EXPECT_EQ(text(tree(image) + "/out"), "replaced");
  EXPECT_EQ(text(outside + "/file"), "safe");
  EXPECT_FALSE(fs::exists(outside + "/planted"));
  EXPECT_TRUE(nothing_left());
}

TEST_F(ImportTest, LinksDoNotReachTheMachinesFiles) {
  const std::string outside = path("home-of-another");
  fs::create_directories(outside);
  std::ofstream(outside + "/key") << "safe";
  const ImageInfo image = imported({tar_of({{"home", Member::directory, "", 0755},
                                            {"home/user", Member::symlink, outside},
                                            {"etc/skel", Member::symlink, outside},
                                            {"etc/passwd", Member::symlink, outside + "/key"},
                                            {"etc/hosts", Member::symlink, outside + "/key"}})});
  struct stat status {};
  ASSERT_EQ(stat((outside + "/key").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 0u);
  EXPECT_EQ(text(outside + "/key"), "safe");
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(tree(image) + "/etc/hosts")));
  for (const char* name : {"etc", "dev", "proc"})
    EXPECT_NE(refusal({{name, Member::symlink, outside}}), "") << name;
}

TEST_F(ImportTest, WhatNoImageNeedsIsRefused) {
  EXPECT_NE(refusal({{"null", Member::device, ""}}), "");
  EXPECT_EQ(refusal({{"dev/null", Member::device, ""}}), "");
  EXPECT_NE(refusal({{"x", Member::file, "", 0644, 70000, 0}}), "");
  EXPECT_NE(refusal({{std::string(300, 'n'), Member::file, ""}}), "");
  std::string deep;
  for (int i = 0; i < 400; ++i) deep += "d/";
  EXPECT_NE(refusal({{deep + "f", Member::file, ""}}), "");
  const std::string half = deep.substr(0, 256);  // 128 levels
  std::vector<Member> linked{{half, Member::directory}, {"way", Member::symlink, half}};
  linked.insert(linked.end(), {{"way/" + half, Member::directory}, {"x", Member::file, ""}});
  EXPECT_EQ(refusal(linked), "");
  linked[3] = {"way/" + half + "d", Member::directory};
  EXPECT_NE(refusal(linked), "");
  EXPECT_NE(refusal({{"huge", Member::file, "", 0644, 0, 0, int64_t{1} << 45}}), "");
  EXPECT_EQ(refusal({{std::string(255, 'n'), Member::file, ""},
                     {"new\nline", Member::file, ""},
                     {"pipe", Member::pipe, ""}}),
            "");
  EXPECT_TRUE(nothing_left());
}

TEST_F(ImportTest, EveryPartIsWhatItsDigestSays) {
  const std::string layout = path("broken");
  const std::string layer = tar_of({{"a", Member::file, "a"}});
  const auto again = [&] {
    fs::remove_all(layout);
    write_layout(layout, {layer});
  };
  const auto import_it = [&] {
    return import_image(store(), "probe", layout, [](std::string_view) {});
  };
  again();
  EXPECT_NO_THROW(import_it());
  std::string changed = layer;
  changed[600] ^= 1;
  const std::string blob = layout + "/blobs/sha256/" + sha256_of(layer).substr(7);
  std::ofstream(blob, std::ios::binary) << changed;
  EXPECT_THROW(import_it(), Error);
  again();
  fs::rename(blob, path("elsewhere"));
  fs::create_symlink(path("elsewhere"), blob);
  EXPECT_THROW(import_it(), Error) << "a blob is a file";
  for (const char* index : {"", "[]", "{}", "{\"manifests\": 3}", "{\"manifests\": [{}]}",
                            "{\"manifests\": [{\"digest\": \"sha256:../../x\", \"size\": 1}]}"}) {
    again();
    std::ofstream(layout + "/index.json") << index;
    EXPECT_THROW(import_it(), Error) << index;
  }
  again();
  std::ofstream(layout + "/oci-layout") << "{}";
  EXPECT_THROW(import_it(), Error);
  EXPECT_TRUE(nothing_left());
}

TEST_F(ImportTest, AnArchiveIsALayoutToo) {
  write_layout(path("layout"), {tar_of({{"a", Member::file, "a"}})});
  std::vector<Member> members = {{"../evil", Member::file, "x"},
                                 {"blobs/sha256/../../evil", Member::file, "x"},
                                 {"/evil", Member::file, "x"}};
  for (const auto& entry : fs::recursive_directory_iterator(path("layout"))) {
    if (entry.is_regular_file())
      members.push_back(
          {fs::relative(entry.path(), path("layout")), Member::file, text(entry.path())});
  }
  std::ofstream(path("image.tar"), std::ios::binary) << tar_of(members);
  const ImageInfo image =
      import_image(store(), "probe", path("image.tar"), [](std::string_view) {});
  EXPECT_EQ(text(tree(image) + "/a"), "a");
  std::ofstream(path("no.tar")) << "nothing";
  EXPECT_THROW(import_image(store(), "probe", path("no.tar"), [](std::string_view) {}), Error);
  EXPECT_TRUE(nothing_left());
}

TEST_F(ImportTest, TreesGoWhenNobodyNeedsThem) {
  const ImageInfo first = imported({tar_of({{"a", Member::file, "1"}})});
  const ImageInfo second = imported({tar_of({{"a", Member::file, "2"}})});
  ASSERT_NE(first.digest, second.digest);
  EXPECT_EQ(collected({first.digest}), std::vector<std::string>());
  EXPECT_EQ(collected(), std::vector<std::string>{first.digest});
  {
    const OpenImage open = store().open("probe");
    store().remove("probe");
    EXPECT_EQ(collected(), std::vector<std::string>()) << "it is open";
  }
  EXPECT_EQ(collected(), std::vector<std::string>{second.digest});
  EXPECT_THROW(store().open("probe"), Error);
}

TEST_F(ImportTest, WhoNeedsATreeIsAskedAgainOnceNobodyCanOpenIt) {
  const std::string digest = imported({tar_of({{"a", Member::file, "1"}})}).digest;
  store().remove("probe");
  int asked = 0;
  const auto from_the_second_time = [&] {
    return ++asked == 1 ? std::set<std::string>{} : std::set<std::string>{digest};
  };
  EXPECT_TRUE(store().collect(from_the_second_time).empty());
  EXPECT_TRUE(store().collect([] { return std::nullopt; }).empty()) << "nobody knows";
  EXPECT_EQ(collected(), std::vector<std::string>{digest});
}

TEST_F(ImportTest, ABrokenNameTakesOnlyItselfAway) {
  const ImageInfo image = imported({tar_of({{"file", Member::file, "one"}})});
  const ImageInfo wrong = imported({tar_of({{"file", Member::file, "two"}})});
  std::ofstream(path("store/names/garbage")) << "garbage";
  std::ofstream(path("store/names/types")) << R"({"name": 1, "digest": []})";
  std::ofstream(path("store/names/No Name")) << "{}";
  ASSERT_EQ(store().list().size(), 1u);
  EXPECT_EQ(store().list()[0].name, image.name);
  EXPECT_NO_THROW(store().open(image.name));
  EXPECT_EQ(store().broken(), (std::vector<std::string>{"garbage", "types"}));
  EXPECT_EQ(code_of([&] { store().open("types"); }), ErrorCode::not_found);
  EXPECT_TRUE(collected().empty()) << "a tree may be that of a broken name";
  for (const std::string& name : store().broken()) store().remove(name);
  EXPECT_TRUE(store().broken().empty());
  EXPECT_EQ(code_of([&] { store().remove("types"); }), ErrorCode::not_found);
  EXPECT_EQ(collected().size(), 1u);
}

TEST_F(ImportTest, WhatCannotBeWrittenLeavesTheImageThatWasThere) {
  const ImageInfo image = imported({tar_of({{"file", Member::file, "one"}})});
  const std::string draft = store().make_draft() + "/tree";
  fs::create_directory(draft);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit full{1, before.rlim_max};
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &full);
  const auto code = code_of([&] { store().add(image, draft); });
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  EXPECT_EQ(code, ErrorCode::no_capacity);
  EXPECT_EQ(store().read("probe").digest, image.digest);
  EXPECT_TRUE(store().broken().empty());
}

TEST_F(ImportTest, NoImageHasTheNameOfADraft) {
  EXPECT_TRUE(is_image_name("draft"));
  EXPECT_FALSE(is_image_name("probe.draft")) << "it would be written over by the next of probe";
}

TEST_F(ImportTest, AChangedTreeIsNoticed) {
  const ImageInfo image = imported({tar_of({{"a", Member::file, "1"}})});
  EXPECT_TRUE(store().verify("probe"));
  std::ofstream(tree(image) + "/a") << "2";
  EXPECT_FALSE(store().verify("probe"));
}

}  // namespace
}  // namespace sandgate::test
