#include "gateway/cli/options/completion.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "gateway/cli/commands/commands.hpp"

namespace sandgate {
namespace {

TEST(Completion, NamesCommandsOfEveryLevel) {
  CLI::App app{"Sandgate", "sandgate"};
  ExitCode exit_code = 0;
  add_client_commands(app, exit_code);
  app.add_subcommand("inner", "Started by another")->group("");

  const std::string bash = cli::bash_completion(app);
  EXPECT_NE(bash.find("'profiles') words_after='apply list"), std::string::npos);
  EXPECT_NE(bash.find("'profiles apply') words_after='"), std::string::npos);
  EXPECT_EQ(bash.find("inner"), std::string::npos) << "--help does not show it either";
  EXPECT_NE(cli::fish_completion(app).find("-a rollback"), std::string::npos);
}

TEST(Completion, FishKeepsApostrophes) {
  CLI::App app{"Sandgate", "sandgate"};
  app.add_subcommand("bill", R"(A tenant's \ all)")->add_option("--of", "Whose it's");

  const std::string fish = cli::fish_completion(app);
  EXPECT_NE(fish.find(R"(-a bill -d 'A tenant\'s \\ all')"), std::string::npos) << fish;
  EXPECT_NE(fish.find(R"(-l of -r -d 'Whose it\'s')"), std::string::npos) << fish;
}

// What a shell's program prints once it has read the completions from "$1".
std::string printed(const std::string& shell, const std::string& completions,
                    const std::string& program) {
  const std::string base = testing::TempDir() + "completion-" + std::to_string(::getpid());
  std::ofstream(base + ".completions") << completions;
  std::ofstream(base + ".program") << program;
  const std::string words = shell + " " + base + ".program " + base + ".completions 2>&1";
  std::FILE* output = ::popen(words.c_str(), "r");
  std::string text;
  std::array<char, 4096> block;
  while (const size_t got = std::fread(block.data(), 1, block.size(), output))
    text.append(block.data(), got);
  ::pclose(output);
  std::remove((base + ".completions").c_str());
  std::remove((base + ".program").c_str());
  return text;
}

bool is_missing(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) != 0;
}

// After "$1 …": the words that a shell offers, each line one question.
constexpr const char* kQuestions = R"(
ask sandgate pro
ask sandgate profiles ap
ask sandgate --json completion ''
ask sandgate pause --keep ''
ask sandgate keys create --role ad
ask sandgate help prof
ask sandgate list --stat
)";
constexpr const char* kAnswers =
    "process profiles providers\napply\nbash zsh fish\nmemory disk\nadmin\nprofiles\n--state\n";

TEST(Completion, BashOffersWhatMayFollow) {
  CLI::App app{"Sandgate", "sandgate"};
  ExitCode exit_code = 0;
  add_client_commands(app, exit_code);
  const std::string program = R"(. "$1"
ask() {
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sandgate
  local found=(); for word in "${COMPREPLY[@]}"; do [[ $word == --help ]] || found+=("$word"); done
  echo "${found[*]}"
})";
  EXPECT_EQ(printed("bash", cli::bash_completion(app), program + kQuestions), kAnswers);
}

// Where no word may follow, a file may, whose name bash itself quotes.
TEST(Completion, BashOffersFilesByItself) {
  CLI::App app{"Sandgate", "sandgate"};
  ExitCode exit_code = 0;
  add_client_commands(app, exit_code);
  const std::string program = R"sh(. "$1"; folder=$(mktemp -d); cd $folder; touch 'a file'
COMP_WORDS=(sandgate cp a); COMP_CWORD=2; _sandgate
echo ${#COMPREPLY[@]}; complete -p sandgate; rm -r $folder)sh";
  EXPECT_EQ(printed("bash", cli::bash_completion(app), program),
            "0\ncomplete -o default -F _sandgate sandgate\n");
}

TEST(Completion, ZshOffersWhatMayFollow) {
  if (is_missing("zsh")) GTEST_SKIP() << "zsh is not installed";
  CLI::App app{"Sandgate", "sandgate"};
  ExitCode exit_code = 0;
  add_client_commands(app, exit_code);
  // compadd works inside of the line editor only; the one here filters as that one does.
  const std::string program = R"(autoload -Uz compinit; compinit -u -D; . "$1"
[[ $_comps[sandgate] == _sandgate ]] || echo not registered
compadd() { shift; command true || echo no PATH; print -r -- ${${(M)@:#${words[CURRENT]}*}:#--help} }
ask() { words=("$@"); CURRENT=$#; _sandgate })";
  EXPECT_EQ(printed("zsh -f", cli::zsh_completion(app), program + kQuestions), kAnswers);
}

TEST(Completion, FishOffersWhatMayFollow) {
  if (is_missing("fish")) GTEST_SKIP() << "fish is not installed";
  CLI::App app{"Sandgate", "sandgate"};
  ExitCode exit_code = 0;
  add_client_commands(app, exit_code);
  const std::string program = R"(source $argv[1]
function ask
  set -l found (complete -C (string join -- ' ' $argv) | string replace -r '\t.*' '')
  echo (string match -v -- --help $found)
end)";
  const std::string fish = cli::fish_completion(app);
  EXPECT_EQ(printed("fish --no-config", fish, program + kQuestions), kAnswers);
  // `list` and `create` are commands of their own, and of several others.
  EXPECT_EQ(printed("fish --no-config", fish, program + R"(
ask sandgate create --ro
ask sandgate keys create --ro
ask sandgate keys create --vc
ask sandgate profiles list --chan
)"),
            "\n--role\n\n\n");
}

}  // namespace
}  // namespace sandgate
