// Whom the programs of an imported image run as.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/local/image/import_fixture.hpp"

namespace sandgate::test {
namespace {

namespace fs = std::filesystem;

class ImportAccountsTest : public ImportTest {};

TEST_F(ImportAccountsTest, TheImagesOwnAccountIsTheDefault) {
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
TEST_F(ImportAccountsTest, AccountsAreNotWaitedFor) {
  for (const Member& accounts :
       std::vector<Member>{{"etc/passwd", Member::pipe}, {"etc/passwd", Member::symlink, "pipe"}}) {
    const ImageInfo image =
        imported({tar_of({{"etc/pipe", Member::pipe}, accounts})}, {{"User", "1234"}});
    EXPECT_EQ(image.config.uid, 1234u);
  }
}

TEST_F(ImportAccountsTest, ListsOfAccountsMayBeLinks) {
  const std::string layer =
      tar_of({{"store/passwd", Member::file, "root:x:0:0::/root:/bin/sh\napp:x:7:7::/:\n"},
              {"store/group", Member::file, "root:x:0:\ndata:x:9:app\n"},
              {"etc/passwd", Member::symlink, "../store/passwd"},
              {"etc/group", Member::symlink, "/store/group"}});
  const std::string root = tree(imported({layer}, {{"User", "1234"}}));
  EXPECT_EQ(text(root + "/etc/passwd"),
            "root:x:0:0::/root:/bin/sh\napp:x:7:7::/:\n"
            "user:x:1234:0::/home/user:/bin/bash\n");
  EXPECT_TRUE(fs::is_symlink(root + "/etc/group")) << "root's group is not to be added";
  const std::string grouped = tree(imported({layer}, {{"User", "1234:4321"}}));
  EXPECT_EQ(text(grouped + "/etc/group"), "root:x:0:\ndata:x:9:app\nuser:x:4321:\n");
  const std::string own = tree(imported({layer}, {{"User", "app"}}));
  EXPECT_TRUE(fs::is_symlink(own + "/etc/passwd")) << "nothing is to be added";
  EXPECT_THAT(text(own + "/etc/passwd"), testing::HasSubstr("root:x:0:0:"));
}

TEST_F(ImportAccountsTest, ListsOfAccountsAreShort) {
  Member huge{.name = "etc/passwd", .content = std::string(2 << 20, 'x')};
  EXPECT_THAT(refusal({huge}), testing::HasSubstr("passwd file is larger than 1 MiB"));
  huge.name = "etc/group";
  EXPECT_THAT(refusal({huge}), testing::HasSubstr("group file is larger than 1 MiB"));
}

TEST_F(ImportAccountsTest, ANumberWithoutANameGetsOneThatIsFree) {
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

TEST_F(ImportAccountsTest, ANumberWithoutAnAccountIsInRootsGroupUnlessItNamesAnother) {
  const std::string layer = tar_of({{"etc/group", Member::file, "root:x:0:\ndata:x:9:app\n"}});
  const auto group = [&](const char* user) {
    return imported({layer}, {{"User", user}}).config.gid;
  };
  EXPECT_EQ(group("1234"), 0u);
  EXPECT_EQ(group("1234:"), 0u);
  EXPECT_EQ(group("1234:77"), 77u);
  EXPECT_EQ(group("1234:data"), 9u);
  EXPECT_EQ(group("0"), 1000u) << "root is no default";
  EXPECT_THROW(group("1234:nobody-knows"), Error);
  EXPECT_THROW(group("1234:70000"), Error);
}

// Programs run with the group that /etc/passwd has for the account.
TEST_F(ImportAccountsTest, AnAccountHasTheGroupThatIsNamedBehindIt) {
  const std::string others = "root:x:0:0::/root:/bin/sh\napp:x:77:77:other\nuser:x:5:6::/:\n";
  const std::string layer = tar_of(
      {{"etc/passwd", Member::file, others + "app:x:1234:99:An App:/app:/bin/sh\nlast:x:8:8::/:"},
       {"etc/group", Member::file, "root:x:0:\ndata:x:9:app\n"}});
  const auto group = [&](const char* user) {
    const ImageInfo image = imported({layer}, {{"User", user}});
    EXPECT_EQ(text(tree(image) + "/etc/passwd"),
              others + "app:x:1234:" + std::to_string(image.config.gid) +
                  ":An App:/app:/bin/sh\nlast:x:8:8::/:" + (image.config.gid == 99 ? "" : "\n"))
        << user;
    EXPECT_EQ(text(tree(image) + "/etc/group"), "root:x:0:\ndata:x:9:app\n") << user;
    return image.config.gid;
  };
  EXPECT_EQ(group("1234"), 99u);
  EXPECT_EQ(group("1234:"), 99u);
  EXPECT_EQ(group("1234:data"), 9u);
  EXPECT_EQ(group("1234:555"), 555u);
  EXPECT_EQ(group("1234:0"), 0u);
  EXPECT_EQ(imported({layer}, {{"User", "last:data"}}).config.gid, 9u);
  EXPECT_EQ(imported({layer}, {{"User", "root:data"}}).config.gid, 6u) << "root is no default";
  EXPECT_THROW(group("1234:nobody-knows"), Error);
  EXPECT_THROW(group("1234:70000"), Error);
}

TEST_F(ImportAccountsTest, AnAccountUserOfTheImageKeepsItsNumbers) {
  const std::string layer =
      tar_of({{"etc/passwd", Member::file,
               "root:x:0:0::/root:/bin/sh\nuser:x:1001:1002::/srv:/bin/sh\n"}});
  const ImageInfo image = imported({layer}, {{"User", "root"}});
  EXPECT_EQ(image.config.user, "user");
  EXPECT_EQ(image.config.uid, 1001u);
  EXPECT_EQ(image.config.gid, 1002u);
  EXPECT_EQ(image.config.home, "/srv");
}

}  // namespace
}  // namespace sandgate::test
