#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "gateway/core/fd.hpp"
#include "local/image/import.hpp"
#include "local/image/layer.hpp"
#include "local/image/run_in_chroot.hpp"
#include "tests/local/image/import_fixture.hpp"
#include "tests/support/code_of.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

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
